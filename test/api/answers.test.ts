// What the readers make of answers, good and odd. docs/faults.md rows T and S.
import { readFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import {
  readBlacklist,
  readDetail,
  readDns,
  readHealth,
  readMailboxes,
  readStats,
  readWarmup,
} from '../../src/api/answers.ts';
import { row } from '../guard/samples.ts';

const rowsOf = (...stats: unknown[]) => readStats({ stats })?.rows;
const emptyRow = row(null, null, null);

test('the answers that docs/mailbox-api.md asks for are read', () => {
  const page = readFileSync(new URL('../../docs/mailbox-api.md', import.meta.url), 'utf8');
  const answers = [...page.matchAll(/^```json\n(.*)\n```/gm)].map(([, text = '']) => JSON.parse(text));
  const [list, stats, warmup, detail, health, _change, dns, blacklist] = answers;
  expect(readMailboxes(list)).toMatchObject({ mailboxes: [{ id: 'mb1', status: 'active' }], truncated: false });
  expect(readStats(stats)?.rows?.[0]).toMatchObject({ sent: 40, bounced: 0 });
  expect(readWarmup(warmup)).toMatchObject({ status: 'active', mode: 'balanced' });
  expect(readDetail(detail)?.connection).toBe('connected');
  expect(readHealth(health)?.timestamp).toBe(Date.parse('2026-03-20T10:02Z'));
  expect(readDns(dns)?.records).toMatchObject({ spf: { pass: true }, dkim: { pass: true }, dmarc: { pass: false } });
  expect(readBlacklist(blacklist)?.listed).toBe(false);
});

test.each([
  ['a number', 98.5, 98.5],
  ['a text with blanks around it', ' 7 ', 7],
  ['a negative text', '-3', -3],
  ['zero', 0, 0],
  ['an empty text', '', null],
  ['a text with a percent sign', '12.5%', null],
  ['an exponent', '1e3', null],
  ['a hexadecimal text', '0x10', null],
  ['NaN', Number.NaN, null],
  ['infinity', Number.POSITIVE_INFINITY, null],
  ['null', null, null],
  ['nothing', undefined, null],
  ['true', true, null],
  ['a list', [5], null],
])('%s as a number (S1, T2)', (_name, sent, read) => {
  expect(rowsOf({ date: '2026-03-10', sent })?.[0]?.sent).toBe(read);
});

test.each([
  ['a time without a zone is UTC', '2026-11-28T18:00:00', '2026-11-28T18:00:00Z'],
  ['the same with a blank and a fraction', '2026-11-28 18:00:00.5', '2026-11-28T18:00:00.5Z'],
  ['an offset counts', '2026-11-28T18:00:00+02:00', '2026-11-28T16:00:00Z'],
  ['another form with a zone', 'Sat, 28 Nov 2026 18:00:00 GMT', '2026-11-28T18:00:00Z'],
  ['another form without a zone is unknown', 'Nov 28 2026 18:00:00', null],
])('%s, wherever the daemon runs', (_name, timestamp, read) => {
  vi.stubEnv('TZ', 'America/New_York');
  expect(readHealth({ status: 'ok', timestamp })?.timestamp).toBe(read && Date.parse(read));
  vi.unstubAllEnvs();
});

test.each([
  [{ next: '/v1/mailboxes?page=2' }],
  [{ next_cursor: 'abc' }],
  [{ cursor: 'abc' }],
  [{ next_page: 2 }],
  [{ has_more: true }],
  [{ total: 40, page: 1, pages: 2 }],
  [{ total: 40 }],
  [{ total_count: '40' }],
  [{ count: 1 }],
  [{ page: 1, total_pages: 2 }],
  [{ current_page: 1, last_page: 2 }],
  [{ page: 0, pages: 2 }],
  [{ pages: 2 }],
  [{ meta: { total: 40 } }],
  [{ pagination: { page: 1, pages: 2 } }],
  [{ links: { next: '/v1/mailboxes?page=2' } }],
])('a list that goes on is truncated: %j (S8)', (more) => {
  expect(readMailboxes({ mailboxes: [], ...more })?.truncated).toBe(true);
});

test.each([
  [{ total: 2, page: 1, pages: 1 }],
  [{ total: 1, count: 2 }],
  [{ total: '2', page: 0, total_pages: 1 }],
  [{ total: null, count: {}, pages: 'many', meta: [3], links: null }],
])('a list that holds as many as it counts is not truncated, also with an id twice: %j (S8)', (counts) => {
  const mailboxes = [1, 2].map(() => ({ id: 'a', email: 'ann@one.example' }));
  expect(readMailboxes({ mailboxes, ...counts })?.truncated).toBe(false);
});

test('an unreadable entry hides nobody: the list counts as truncated', () => {
  const list = readMailboxes({ mailboxes: [null, { id: 'a', email: 'ann@one.example' }, { id: 'b' }] });
  expect([list?.mailboxes.map(({ id }) => id), list?.truncated]).toEqual([['a'], true]);
});

test.each([
  [' ann@one.example ', 'ann@one.example'],
  ['Ann Moss <ann@one.example>', 'ann@one.example'],
  ['"Moss, Ann" < ann@one.example > ', 'ann@one.example'],
  ['ann@one.example.', 'ann@one.example'],
  ['Ann@One.example', 'Ann@One.example'],
  ['<ann>', '<ann>'],
])('the address of %j is %j: so exclude and overrides match it', (email, address) => {
  expect(readMailboxes({ mailboxes: [{ id: 'a', email }] })?.mailboxes[0]?.email).toBe(address);
});

test.each(['a\ud800', '\udc00', 'a\0b', '.', '..'])(
  'a mailbox with the id %j can be neither asked for nor stored: the list is truncated',
  (id) => {
    const list = readMailboxes({
      mailboxes: [
        { id, email: 'a@x.test' },
        { id: 'm2', email: 'b@x.test' },
      ],
    });
    expect(list?.mailboxes.map((one) => one.id)).toEqual(['m2']);
    expect(list?.truncated).toBe(true);
  },
);

test('half a letter in a text, or where a text is cut, is replaced: nobody can put it into an address', () => {
  const broken = `${'x'.repeat(999)}\u{1f600}`;
  const entry = readMailboxes({ mailboxes: [{ id: 'm1', email: 'a@\ud800.test', provider: broken }] })?.mailboxes[0];
  expect(entry).toMatchObject({ email: 'a@\ufffd.test', provider: `${'x'.repeat(999)}\ufffd` });
  const dns = readDns({ domain: '\udc00', spf: { status: 'pass', record: `${'x'.repeat(4_095)}\u{1f600}` } });
  expect(dns?.domain).toBe('\ufffd');
  expect(dns?.records.spf.record?.isWellFormed()).toBe(true);
  expect(readBlacklist({ blacklists_found: ['\ud800'] })?.lists).toEqual(['\ufffd']);
});

test('an id that comes as a number is the text of it', () => {
  expect(readMailboxes({ mailboxes: [{ id: 17, email: 'a@b.example' }] })?.mailboxes[0]?.id).toBe('17');
});

test.each<[string, object, string, string | null]>([
  ['a text is an error', { connection_error: 'IMAP login failed' }, 'error', 'IMAP login failed'],
  ['an object is an error', { connection_error: { code: 'AUTH' } }, 'error', '{"code":"AUTH"}'],
  ['blanks are unclear', { connection_error: '  ' }, 'unclear', null],
  ['an empty list is unclear', { connection_error: [] }, 'unclear', null],
  ['false is unclear', { connection_error: false }, 'unclear', null],
  ['an absent field is unclear', {}, 'unclear', null],
  ...['none', 'None', 'null', 0, { code: null, message: null }, { code: 0, message: '' }].map(
    (none): [string, object, string, null] => [JSON.stringify(none), { connection_error: none }, 'connected', null],
  ),
])('connection_error: %s (S7)', (_name, body, connection, connectionError) => {
  const read = { status: 'active', connection, connectionError };
  expect(readDetail({ id: 'a', status: 'active', ...body })).toMatchObject(read);
});

test('rows are read one by one; what a row does not say is unknown, never 0', () => {
  expect(
    rowsOf({ date: '2026-03-10', sent: '12', bounced: 1, inbox_rate: '97.50', label: 'x' }, {}, null, 'x', 3),
  ).toEqual([
    { ...emptyRow, date: '2026-03-10', sent: 12, bounced: 1, inboxRatePercent: 97.5 },
    emptyRow,
    emptyRow,
    emptyRow,
    emptyRow,
  ]);
});

test.each([
  ...['2026-02-30', '2026-02-30T00:00:00Z', '2026-3-1', '10.03.2026', 20260310, null, ['2026-03-10']],
  ...['2026-03-10T05:00:00Z', '2026-03-10T00:00:00+02:00', '2026-03-10T00:00:00.500Z', '2026-03-10T24:00:00Z'],
])('the date %j is no date: nobody knows where its counts belong', (date) => {
  expect(rowsOf({ date, sent: 1, bounced: 0 })?.[0]?.date).toBeNull();
});

test.each(['', 'T00:00', ' 00:00:00', 'T00:00:00.000Z', 'T00:00:00+00:00'])('2026-03-10%s is that day', (end) => {
  expect(rowsOf({ date: `2026-03-10${end}`, sent: 1, bounced: 0 })?.[0]?.date).toBe('2026-03-10');
});

test.each([
  ['PASS', true],
  [' Valid ', true],
  ['missing', false],
  ['SoftFail', false],
  ['permerror', false],
  ['pending', null],
  ['unknown', null],
  ['neutral', null],
  ['misconfigured', false],
  ['', null],
])('the record status %j (S2, S6)', (status, pass) => {
  expect(readDns({ spf: { status } })?.records.spf.pass).toBe(pass);
});

test.each<[string, unknown, readonly string[], number | null]>([
  ['texts', ['zen.example'], ['zen.example'], 1],
  ['objects with a name', [{ name: 'zen.example' }, { list: 'bl.example' }], ['zen.example', 'bl.example'], 2],
  ['objects of another shape', [{ code: 2 }], ['{"code":2}'], 1],
  ['an empty list', [], [], 0],
  ['null', null, [], null],
  ['a text', 'zen.example', [], null],
])('blacklists_found as %s (S5)', (_name, found, lists, count) => {
  const answer = readBlacklist({ ip: '203.0.113.7', listed: true, blacklists_found: found, total_checked: 24 });
  expect([answer?.lists, answer?.found, answer?.listed, answer?.checked]).toEqual([lists, count, true, 24]);
});

test.each([
  ['it wins over their absence', { listed: true, blacklists_found: [] }, true],
  ['without it, lists speak', { blacklists_found: ['zen.example'] }, true],
  ['without it, no list is no proof', { blacklists_found: [] }, null],
  ['a word is no flag', { listed: 'false' }, null],
])('listed: %s (S5, S6)', (_name, body, listed) => {
  expect(readBlacklist(body)?.listed).toBe(listed);
});
