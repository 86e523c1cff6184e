// Every row T, H and S of docs/faults.md that the client decides: the simulator's fault by the same name, and what is made of it.
import { expect, test } from 'vitest';
import { systemClock } from '../../src/world/world.ts';
import type { FaultRule } from '../../tools/simulator/fault.ts';
import { demoKey } from '../../tools/simulator/keys.ts';
import { ann, scenarioOf, serve } from '../simulator/served.ts';
import { clientOf, type Question, questions } from './scripted-server.ts';

const hasty = { headersMs: 400, idleMs: 400, totalMs: 1_500 };

/**
 * A simulator with the rules in force, and a client of it. A fault that stalls
 * meets hasty deadlines; every other one has those of production, which no busy machine meets.
 */
async function facing(rules: readonly FaultRule[]) {
  const served = await serve({ scenario: { ...scenarioOf([ann]), faults: rules } });
  const stalls = rules.some(({ fault }) => fault === 'drip' || `${fault}`.startsWith('stall-'));
  const asked = clientOf(served.simulator.url, { apiKey: demoKey, ...(stalls && { deadlines: hasty }) }, systemClock());
  const end = async () => {
    await asked.api.close();
    await served.simulator.close();
  };
  return { ...served, api: asked.api, said: asked.said, id: served.idOf(ann.email), [Symbol.asyncDispose]: end };
}

const failure = (kind: string, more: object = {}) => ({ ok: false, failure: { kind, ...more } });
const unavailable = (more: object) => failure('unavailable', more);
const answer = (read: object) => ({ ok: true, value: { answer: read } });
const said = (text: string) => ({ detail: expect.stringContaining(text) });
const throttled = (retryAfterMs: number | null) => failure('throttled', { retryAfterMs });
const passing = (records: Readonly<Record<string, boolean | null>>) =>
  answer({ records: Object.fromEntries(Object.entries(records).map(([name, pass]) => [name, { pass }])) });
const ofAnn = { email: ann.email };
const quoted = { connectionError: '<b>@channel</b> =HYPERLINK("x")' };
const rows = (row: object) => answer({ rows: expect.arrayContaining([expect.objectContaining(row)]) });

const cases: readonly [name: string, fault: string, route: Question, outcome: object][] = [
  ['T2: a score is read as a number and as a text', 'scores-as-text', 'warmup', answer({ healthScore: 97.5 })],
  ['T3: the mode is found inside config', 'mode-in-config', 'warmup', answer({ mode: 'recovery' })],
  ['T6: DNS records are read as words and as objects', 'dns-as-words', 'dns', passing({ spf: true, dkim: false })],
  ['T6: DNS words as objects are read', 'dns-status-as-objects', 'mailbox', answer({ connection: 'connected' })],
  ['T7: no field is required that nothing rests on', 'fields-missing', 'warmup', answer({ dailyLimit: null })],
  ['T8: 403 with JSON is refused, whatever its text says', 'plan-lost', 'stats', failure('refused', { status: 403 })],
  ['H1: a 502 with a page is unavailable', 'bad-gateway', 'stats', unavailable(said('502: Just a moment...'))],
  ['H1: a 503 with a page is unavailable', 'service-unavailable', 'warmup', failure('unavailable', { status: 503 })],
  ['H1: a 520 with a page is unavailable', 'origin-error', 'mailboxes', failure('unavailable', { status: 520 })],
  ['H2: 200 with a page is no empty list', 'page-with-200', 'mailboxes', failure('malformed', { status: 200 })],
  ['H2: JSON with < in front is malformed', 'angle-before-json', 'stats', failure('malformed', { status: 200 })],
  ['H3: a challenge page with 403 is no wrong plan', 'challenge', 'stats', failure('unavailable', { status: 403 })],
  ['H4: 200 with an error is a failure', 'error-with-200', 'stats', failure('refused', { status: 200 })],
  ['H4: 200 with success false is a failure', 'failure-with-200', 'warmup', failure('refused', { status: 200 })],
  ['H5: an empty body is malformed', 'empty-body', 'mailboxes', failure('malformed')],
  ['H5: 204 on a GET is malformed', 'no-content', 'stats', failure('malformed', { status: 204 })],
  ['H10: 429 without Retry-After names no wait', 'throttled-silent', 'stats', throttled(null)],
  ['H11: Retry-After as a date', 'retry-after-date', 'stats', throttled(30_000)],
  ['H11: Retry-After 0 is a second', 'retry-after-zero', 'stats', throttled(1_000)],
  ['H11: a negative Retry-After is a second', 'retry-after-negative', 'stats', throttled(1_000)],
  ['H11: a fraction is rounded up', 'retry-after-fraction', 'stats', throttled(1_235)],
  ['H11: ten days are 15 minutes', 'retry-after-absurd', 'stats', throttled(900_000)],
  ['H11: of two the longer counts', 'retry-after-twice', 'stats', throttled(40_000)],
  ['H11: a malformed one is none', 'retry-after-malformed', 'stats', throttled(null)],
  ['H11: only in the body', 'retry-after-in-body', 'stats', throttled(17_500)],
  ['H14: silence before the head has a deadline', 'stall-head', 'stats', failure('unavailable', said('no answer'))],
  ['H14: silence within the body has one', 'stall-body', 'stats', failure('unavailable', said('stopped for'))],
  ['H14: a byte at a time has one', 'drip', 'stats', failure('unavailable', said('no complete answer within'))],
  ['H15: a truncated body is malformed', 'truncated', 'stats', failure('malformed', said('ended before'))],
  ['H15: a truncated gzip is malformed', 'truncated-gzip', 'stats', failure('malformed', said('ended before'))],
  ['H15: a reset before the head is unavailable', 'reset', 'stats', failure('unavailable', { status: null })],
  ['H16: gzip is understood', 'gzip', 'warmup', answer({ mode: 'balanced' })],
  ['H16: gzip that is plain is malformed', 'gzip-that-is-plain', 'stats', failure('malformed', said('gzip, but'))],
  ['H16: br, which was not asked for, is malformed', 'brotli', 'stats', failure('malformed', said('br'))],
  ['H17: a huge body is cut off', 'huge', 'mailboxes', failure('malformed', said('larger than Warmwarden accepts'))],
  ['H17: a gzip bomb is cut off', 'gzip-bomb', 'mailboxes', failure('malformed', said('larger than Warmwarden'))],
  ['H17: a bomb in an error leaves the status', 'gzip-bomb-in-error', 'stats', failure('unavailable', { status: 500 })],
  ['H18: a redirect is refused', 'redirect', 'mailboxes', failure('refused', { status: 302 })],
  ['H22: 401 is unauthorized', 'unauthorized', 'stats', failure('unauthorized', { status: 401 })],
  ['H23: 404 is missing', 'missing', 'stats', failure('missing', { status: 404 })],
  ['S1: plain decimal texts are read', 'counts-as-text', 'stats', rows({ sent: 12, bounced: 0 })],
  ['S1: other texts are unknown, never 0', 'counts-unreadable', 'stats', rows({ sent: null, bounced: null })],
  ['S2: an unknown status is kept raw', 'unknown-status', 'warmup', answer({ status: 'Frobnicating' })],
  ['S2: a mode in another spelling is that mode', 'respelled-mode', 'warmup', answer({ mode: 'balanced' })],
  ['S2: an unknown mode is kept raw', 'unknown-mode', 'warmup', answer({ mode: 'TURBO' })],
  ['S2: a null word is unknown', 'null-words', 'warmup', answer({ status: null, mode: 'balanced' })],
  ['S3: extra fields are ignored', 'extra-fields', 'mailboxes', answer({ truncated: false })],
  ['S4: a null list is no empty list', 'null-list', 'mailboxes', failure('malformed')],
  ['S4: null statistics are unknown', 'null-stats', 'stats', answer({ rows: null })],
  ['S4: a null config is unknown', 'null-config', 'warmup', answer({ config: { weekdaysOnly: null } })],
  ['S5: lists as objects are counted', 'lists-as-objects', 'blacklist', answer({ found: 1, lists: ['zen.example'] })],
  ['S5: lists as a map are counted', 'lists-as-map', 'blacklist', answer({ found: 1, lists: ['zen.example'] })],
  ['S5: lists as a number are counted', 'lists-as-number', 'blacklist', answer({ listed: true, found: 3 })],
  ['S5: listed wins over a list', 'lists-contradict', 'blacklist', answer({ listed: false, found: 1 })],
  ['S6: other DNS words are inconclusive', 'dns-temperror', 'dns', passing({ spf: null, dkim: null, dmarc: null })],
  ['S6: nothing checked is inconclusive', 'nothing-checked', 'blacklist', answer({ listed: null })],
  ['S7: an object is a connection error', 'connection-error-object', 'mailbox', answer({ connection: 'error' })],
  ['S7: an empty connection error is unclear', 'connection-error-empty', 'mailbox', answer({ connection: 'unclear' })],
  ['S8: a paged list is truncated', 'paged', 'mailboxes', answer({ truncated: true })],
  ['S8: a list that counts more than it holds is truncated', 'paged-total', 'mailboxes', answer({ truncated: true })],
  ['S8: of an id twice the later entry counts', 'entry-twice', 'mailboxes', answer({ mailboxes: [ofAnn] })],
  ['S8: an empty list is an empty list', 'empty-list', 'mailboxes', answer({ mailboxes: [], truncated: false })],
  ['S12: control characters and bidi marks are taken out of what is quoted', 'markup', 'mailbox', answer(quoted)],
];

test.each(cases)('%s', async (_name, fault, route, outcome) => {
  await using it = await facing([{ fault, route }]);
  const result = await questions[route](it.api, it.id);
  expect(result).toMatchObject(outcome);
  expect(JSON.stringify(result)).not.toContain(demoKey);
});

test.each<[string, string, Question, readonly string[]]>([
  [
    'S1: a field that can not be read',
    'counts-unreadable',
    'stats',
    ['sent is not a plain number: "1,204"', 'bounced'],
  ],
  ['S5: a listing that contradicts itself', 'lists-contradict', 'blacklist', ['listed is false, but blacklists_found']],
])('%s is said once, whatever number of rows and answers it stands in', async (_name, fault, route, doubts) => {
  await using it = await facing([{ fault, route }]);
  for (const _ of [1, 2]) await questions[route](it.api, it.id);
  expect(it.said).toEqual(doubts.map((doubt) => expect.stringContaining(doubt)));
});

test('a plain answer of every route raises no doubt', async () => {
  await using it = await facing([]);
  for (const ask of Object.values(questions)) await ask(it.api, it.id);
  expect(it.said).toEqual([]);
});

test('T5: the time of a check is read; its source is for show', async () => {
  await using it = await facing([]);
  for (const ask of [it.api.dns(it.id), it.api.blacklist(it.id)]) {
    const result = await ask;
    expect(result.ok && result.value.answer.checkedAt).toMatch(/^2026-03-10T/);
  }
  const dns = await it.api.dns(it.id);
  expect(dns.ok && dns.value.answer.source).toBe('cached');
});
