// `warmwarden status` and `alerts list`: the whole fleet, and an exit code that says whether it is guarded.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { statusLines } from '../../src/cli/status.ts';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import { guardStates } from '../../src/core/mailbox.ts';
import { hourMs } from '../../src/core/time.ts';
import type { Verdict } from '../../src/core/verdict.ts';
import type { FleetAnswer } from '../../src/web/json/fleet.ts';
import { stateBadge } from '../../src/web/page/parts/elements.ts';
import { noAlerts, now } from '../store/records.ts';
import { commandLine } from '../support/command-line.ts';
import { startServer } from '../support/loopback.ts';
import {
  account,
  action,
  alert,
  exampleFleet,
  now as fleetNow,
  mailbox,
  verdict as verdictOf,
} from '../web/example-fleet.ts';
import { type Running, serve } from '../web/running-server.ts';

const mailboxes = 250;
const firing = Array.from({ length: 1_030 }, (_, index) =>
  alert({
    rule: 'stale_data',
    object: `o${index}`,
    facts: { title: `trouble ${index}`, sentences: [`Look at o${index}.`], numbers: {} },
  }),
);
const longName = `${'a'.repeat(64)}@${'long.'.repeat(12)}example`;

let server: Running;

beforeEach(async () => {
  const fleet = new Fleet();
  for (let index = 0; index < mailboxes; index += 1)
    fleet.putMailbox(mailbox(`m${index}`, index === 0 ? longName : `m${index}@a.example`));
  fleet.putAlerts({ ...noAlerts, changed: firing });
  fleet.tags = { ...fleet.tags, of: ({ id }) => (id === 'm7' ? ['client=north'] : []) };
  server = await serve(fleet);
});

afterEach(() => server[Symbol.asyncDispose]());

const status = (...more: readonly string[]) => commandLine(['status', '--url', server.url, ...more]);

test('--tag lists the mailboxes with that tag alone', async () => {
  const { stdout } = await status('--tag', 'client=*');
  expect(stdout.match(/m\d+@a\.example/g)).toEqual(['m7@a.example']);
  const { total, mailboxes: listed } = JSON.parse((await status('--tag', 'client=north', '--json')).stdout);
  expect([total, listed.length]).toEqual([1, 1]);
  // The lines about the fleet may name other clients.
  expect(stdout.split('\n')[0]).toMatch(/^ *(MAILBOX|ACCOUNT|STATE)/);
  const unknown = await status('--tag', 'client=nrth');
  expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('No mailbox has the tag client=nrth.')]);
});

test('1 says that an account cannot be read or written, that it lacks a mailbox, that polling has not started, that the store fails or that a channel does, and nothing else does', async () => {
  const codeOf = async (change: (fleet: Fleet) => void) => {
    const fleet = exampleFleet();
    change(fleet);
    await using server = await serve(fleet);
    return (await commandLine(['status', '--url', server.url])).code;
  };
  const failure = { said: 'the disk is full', remedy: 'Make room.', lasting: false };
  const codes = [
    await codeOf((fleet) =>
      fleet.putAlerts({ ...noAlerts, changed: [alert({ rule: 'dns_failing', severity: 'critical' })] }),
    ),
    await codeOf((fleet) => fleet.putAccount(account('acme', { failingSince: now }))),
    await codeOf((fleet) => fleet.putAccount(account('acme', { keyWrites: false }))),
    await codeOf((fleet) => fleet.putAccount(account('acme', { unlisted: ['tpyo@acme.example'] }))),
    await codeOf((fleet) => fleet.putStoreFailure(failure)),
    await codeOf((fleet) => fleet.putAccount(account('acme', { listed: false, lastSuccessAt: null }))),
    await codeOf((fleet) => fleet.putGuarding([{ account: 'acme', startingSince: now }])),
    await codeOf((fleet) => {
      for (const channel of [...fleet.channels()]) fleet.putChannel({ ...channel, lastFailure: 'it answered 500' });
    }),
  ];
  expect(codes).toEqual([0, 1, 1, 1, 1, 1, 1, 1]);
});

test('says how many mailboxes it guards, and how old the oldest statistics are', async () => {
  const { stdout } = await status();
  expect(stdout).toMatch(
    new RegExp(`^Guarding (\\d+ of )?${mailboxes} mailboxes( now)?\\. Oldest stats: .*\\d+ (s|min|h|days)\\.$`, 'm'),
  );
});

test('hints name the program', async () => {
  expect((await status()).stdout).toContain('`warmwarden alerts list --details`');
});

test('no name is cut; many alerts of one rule are one line, and one entry of the JSON', async () => {
  const { stdout } = await status('--all');
  expect(stdout).toContain(longName);
  expect(stdout.split('\n').filter((line) => /^(warning|critical) /.test(line))).toEqual([
    'warning   1,030 alerts: data out of date',
  ]);
  expect(stdout).not.toMatch(/trouble | more /);
  const { alerts, alerts_firing: count, alert_groups: groups } = JSON.parse((await status('--json')).stdout);
  expect([alerts.length, count]).toEqual([20, firing.length]);
  expect(groups).toMatchObject([{ rule: 'stale_data', count: firing.length, title: 'trouble 0' }]);
});

test('alerts list has every alert, however many the daemon gives at once', async () => {
  const list = await commandLine(['alerts', 'list', '--url', server.url]);
  expect(list.stdout.split('\n').filter((line) => line.includes('trouble '))).toHaveLength(firing.length);
  const { stdout } = await commandLine(['alerts', 'list', '--url', server.url, '--details']);
  expect(stdout.split('\n').filter((line) => line.includes('trouble '))).toHaveLength(firing.length);
  for (const { facts } of firing) for (const sentence of facts.sentences) expect(stdout).toContain(sentence);
  const { total, alerts } = JSON.parse((await commandLine(['alerts', 'list', '--url', server.url, '--json'])).stdout);
  expect([total, alerts.length]).toEqual([firing.length, firing.length]);
});

describe('in words', () => {
  const at = '2026-03-10T10:12:00.000Z';
  const since = '2026-03-10T10:00:00.000Z';
  const calm = {
    ...{ at, time_zone: 'UTC', headline: 'Look.', advice: 'Look.', tone: 'alarm' },
    ...{
      not_guarded: [],
      store_failure: null,
      accounts: [],
      channels: [],
      alert_groups: [],
      incidents: [],
      alerts_firing: 0,
      total: 0,
      mailboxes: [],
    },
  };
  const textOf = (part: object, most = 99) =>
    statusLines({ ...calm, ...part } as unknown as FleetAnswer, most).join('\n');
  const row = { account: 'acme', name: 'a@a.example', state: 'ok', mode: 'slow', stats_at: since, alerts: [] };

  test('the worst mailboxes, and none of their control characters', () => {
    const verdict = { sent: 200, bounced: 3, rate_percent: 1.5, limit_percent: 0.5, window_days: 7, emergency: null };
    const held = { ...row, name: 'long\u202e@a.example', state: 'held', verdict };
    const text = textOf({ total: 40, mailboxes: Array.from({ length: 40 }, () => held) }, 20);
    const lines = text.split('\n');
    expect(lines.filter((line) => line.includes('a.example'))).toHaveLength(20);
    expect(text).toContain('3 of 200  1.5%   0.5%  12 min');
    expect(text).not.toContain('\u202e');
    expect(lines.at(-1)).toMatch(/^\.\.\. and 20 more, none of them worse/);
  });

  test.each([
    ['fine', 'ok', null, 'OK'],
    ['reader', 'ok', 'key read-only', 'OK, read-only key'],
    ['reader', 'held', 'key read-only', 'Held'],
    ['down', 'ok', 'api down', 'OK, API down'],
    ['wrong', 'ok', 'key rejected', 'OK, key rejected'],
    ['typo', 'ok', 'unlisted', 'OK'],
  ])('beside the state of a mailbox on account %s, %s, what is wrong with it: %s', (account, state, cause, said) => {
    const part = { not_guarded: cause === null ? [] : [{ account, cause, why: 'it is so' }], total: 1 };
    const text = textOf({ ...part, mailboxes: [{ ...row, account, state, verdict: null }] });
    expect(text.trimEnd().split('\n').at(-1)?.split(/ {2,}/)[0]).toBe(said);
  });

  test('each state as the page names it', () => {
    const emergency = { sent: 4, bounced: 4, from: '2026-03-10' };
    const verdict = { sent: 0, bounced: 0, rate_percent: null, limit_percent: 0.5, window_days: 0, emergency };
    const asJudged = { sent: 0, windowDays: 0, emergency } as Verdict;
    const mailboxes = guardStates.map((state) => ({ ...row, state, verdict }));
    const lines = textOf({ total: mailboxes.length, mailboxes }).trimEnd().split('\n').slice(-mailboxes.length);
    expect(lines.map((line) => line.split(/ {2,}/)[0])).toEqual(
      guardStates.map((state) => /">(.*)<\/span>$/.exec(`${stateBadge(state, asJudged)}`)?.[1]),
    );
    expect(lines.every((line) => line.includes('4 of 4  100%'))).toBe(true);
  });

  test.each([
    [0, 'Counting from tomorrow'],
    [1, 'No emails counted yet'],
  ])('of a mailbox without a counted email, with %i days in the window, not that it is OK', (days, said) => {
    const verdict = { sent: 0, bounced: 0, rate_percent: null, limit_percent: 1, window_days: days, emergency: null };
    const text = textOf({ total: 1, mailboxes: [{ ...row, verdict }] });
    expect(text.trimEnd().split('\n').at(-1)?.split(/ {2,}/)[0]).toBe(said);
    expect(`${stateBadge('ok', { ...verdict, windowDays: days } as unknown as Verdict)}`).toContain(said);
  });
});

test('a demo whose port is in use says so, when the port was asked for', async () => {
  await using server = await startServer();
  const demo = await commandLine(['demo', '--port', String(server.port)]);
  expect([demo.code, demo.stderr]).toEqual([1, expect.stringContaining(`${server.port} is in use`)]);
});

describe('--held and --paused', () => {
  const ago = (days: number) => fleetNow - days * 24 * hourMs;
  const judged = (changes: Partial<Verdict>) => ({ at: fleetNow, answer: verdictOf(changes) });
  const paused = judged({ reason: 'already_paused', run: 'paused' });
  const byAnn = (id: string, at: number) =>
    action(`p${id}`, mailbox(id, ''), { kind: 'pause', openedAt: at, by: { name: 'ann', reason: 'a bad list' } });
  const outside = { what: 'warm-up', from: 'active', to: 'paused', since: ago(4), at: ago(3) } as const;
  const limit = action('l1', mailbox('late', ''), { kind: 'limit' });

  function heldFleet(): Fleet {
    const fleet = exampleFleet();
    for (const [id, changes] of Object.entries({
      ann: { verdict: paused, action: byAnn('ann', ago(2)) },
      out: { verdict: paused, changes: [outside] },
      late: { verdict: paused, action: limit },
      held: { verdict: judged({ action: 'hold', reason: 'circuit_breaker', wanted: 'pause' }) },
    }))
      fleet.putMailbox(mailbox(id, `${id}@acme.example`, changes));
    fleet.tags = { ...fleet.tags, of: ({ id }) => (id === 'out' ? ['client=north'] : []) };
    const numbers = { acts_from: '2026-03-12T03:51:00Z' };
    const facts = { title: '', sentences: [], numbers, accounts: ['acme'] };
    fleet.putAlert(alert({ rule: 'guard_held', account: '', object: 'api', since: ago(1), facts }));
    return fleet;
  }
  const entriesOf = async () => ({ decisions: [], changes: [], actions: [limit, byAnn('late', ago(9))] });
  const resume = (id: string) =>
    `          Ends with: \`warmwarden resume acme/${id}@acme.example\`, or a person in the warm-up service.`;

  test('--held lists only what waits for a decision, --paused only what was done', async () => {
    await using server = await serve(heldFleet(), { entries: { entriesOf } });
    const namesIn = async (...asked: readonly string[]) => {
      const { stdout } = await commandLine(['status', ...asked, '--url', server.url]);
      return [...stdout.matchAll(/^\S.*acme\/(\w+)@/gm)].map(([, name]) => name);
    };
    expect(await namesIn('--held')).toEqual(['held']);
    expect(await namesIn('--paused')).toEqual(['late', 'out', 'ann', 'sales', 'hello']);
    const { stdout } = await commandLine(['status', '--paused', '--json', '--url', server.url]);
    expect(JSON.parse(stdout)).toMatchObject({ total: 5, mailboxes: { length: 5 } });
  });

  test('both list every pause, recovery and held action, the oldest first: who, why, and what ends it', async () => {
    await using server = await serve(heldFleet(), { entries: { entriesOf } });
    const { stdout } = await commandLine(['status', '--held', '--paused', '--url', server.url]);
    expect(stdout.split('\n').filter((line) => !line.startsWith('          ') || line.includes('Ends'))).toEqual([
      '9 days    acme/late@acme.example: Paused by ann',
      resume('late'),
      '3 days    acme/out@acme.example: Paused by others',
      resume('out'),
      '2 days    acme/ann@acme.example: Paused by ann',
      resume('ann'),
      '24 h      acme/held@acme.example: Held',
      '          Ends with: real bounces: `warmwarden breaker apply` carries out all held actions; wrong data: `warmwarden breaker discard` drops all. Unless you decide, Warmwarden acts step by step from 12 March 03:51 UTC, if fresh data still shows the breach.',
      '6 min     acme/sales@acme.example: Paused by Warmwarden',
      resume('sales'),
      '6 min     acme/hello@acme.example: Slowed by Warmwarden',
      '          Ends with: `warmwarden mode acme/hello@acme.example balanced`.',
      '',
    ]);
    const whys = [
      'ann paused the warm-up through Warmwarden on 3 March 03:12 UTC. Reason: a bad list.',
      'Somebody else paused the warm-up between 8 March 03:12 UTC and 9 March 03:12 UTC, not through Warmwarden.',
      'the circuit breaker is holding the action.',
      'Warmwarden switched it to recovery mode on 12 March 03:05 UTC. 4 bounces in 210 emails',
    ];
    const page = await (await fetch(`${server.url}/?held=true`)).text();
    for (const why of whys) {
      expect(stdout).toContain(why);
      expect(page).toContain(why);
    }
    const oldestFirst = ['late', 'out', 'ann', 'held', 'sales', 'hello'].map((name) =>
      page.indexOf(`${name}<wbr>@`, page.indexOf('id="rows"')),
    );
    expect(oldestFirst).toEqual(oldestFirst.toSorted((a, b) => a - b));
    expect(page).toContain('<code>warmwarden resume acme/out@acme.example</code>');
  });

  test('promises no action while the API of the held mailbox does not answer', async () => {
    const fleet = heldFleet();
    fleet.putAccount(account('acme', { failingSince: fleetNow - hourMs }));
    await using server = await serve(fleet, { entries: { entriesOf } });
    const ends = /breaker discard` drops all\. Held actions wait until requests to the API succeed\.\n/;
    expect((await commandLine(['status', '--held', '--url', server.url])).stdout).toMatch(ends);
    const { stdout } = await commandLine(['status', '--url', server.url]);
    expect(stdout).toContain('their limits. Held actions wait until requests to the API succeed.');
    expect(stdout).not.toContain('Unless you decide');
    expect(
      await (await fetch(`${server.url}/mailboxes/acme/held`, { headers: { accept: 'text/html' } })).text(),
    ).toContain('<p class="advice">Held actions wait until requests to the API succeed.</p>');
  });

  test('narrows by account and tag, refuses an unknown one, and says that nothing is held', async () => {
    await using server = await serve(heldFleet(), { entries: { entriesOf } });
    const ask = (...more: readonly string[]) => commandLine(['status', '--paused', '--url', server.url, ...more]);
    const { total, mailboxes: held } = JSON.parse((await ask('--tag', 'client=*', '--json')).stdout);
    expect([total, held[0].held]).toMatchObject([
      1,
      { by: 'others', name: null, since: new Date(ago(3)).toISOString() },
    ]);
    expect((await ask('--account', 'northwind')).stdout).toMatch(/^No warm-up is paused/);
    expect((await ask('--account', 'acne')).stderr).toContain('No mailbox has account acne.');
    expect((await commandLine(['status', '--account', 'northwind', '--url', server.url])).stdout).not.toContain('acme');
  });
});
