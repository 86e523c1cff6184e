// `warmwarden backtest` against the simulator, and the replay that it rests on: the guard day by day, with its memory, over rows
// that each test writes down.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BacktestOptions, backtest } from '../../src/cli/backtest.ts';
import { type Past, replayGuard } from '../../src/core/guard/replay.ts';
import { defaultPolicy } from '../../src/core/policy.ts';
import { addDays } from '../../src/core/time.ts';
import { systemClock, type World } from '../../src/world/world.ts';
import { demoKey } from '../../tools/simulator/keys.ts';
import type { SimulatorOptions } from '../../tools/simulator/simulator.ts';
import { row as rowOf } from '../guard/samples.ts';
import { ann, bob, dayMs, type Json, serve } from '../simulator/served.ts';
import { commandLine } from '../support/command-line.ts';
import { ending } from '../support/ending.ts';
import { Workplace } from '../support/process.ts';
import { silentWorld } from '../support/silent-world.ts';

const amelia = 'amelia.ward@northbeam.example';
const jonas = 'jonas.keller@brightpath.example';

/** A simulator whose fleet has lived some days, and a configuration for it. */
async function stage({ days = 5, account = {}, ...options }: Stage = {}) {
  const served = await serve(options);
  await served.clock.advance(days * dayMs);
  const workplace = new Workplace();
  const { url } = served.simulator;
  const named = { name: 'acme', base_url: url, api_key: demoKey, requests_per_minute: 100_000, ...account };
  const config = workplace.configure({ accounts: [named] });
  // The fleet's day, but real waits: the budget's are about sockets.
  const world = silentWorld({ ...systemClock(), now: () => served.clock.now() });
  return {
    ...served,
    workplace,
    config,
    run: (given: Partial<BacktestOptions> = {}) => run({ config, days: 90, ...given }, world),
    ...ending(workplace, served),
  };
}
interface Stage extends Partial<SimulatorOptions> {
  readonly days?: number;
  readonly account?: object;
}

async function run(options: BacktestOptions, world: World) {
  let [out, err] = ['', ''];
  const code = await backtest(options, {
    world,
    print: (text) => {
      out += text;
    },
    complain: (text) => {
      err += text;
    },
  });
  return { code, out, err };
}

/** The mailbox of a JSON outcome. */
function mailboxIn(outcome: Json, email: string): Json {
  return outcome.mailboxes.find((mailbox: Json) => mailbox.email === email);
}

describe('of a bounce storm', () => {
  let staged: Awaited<ReturnType<typeof stage>>;
  beforeAll(async () => {
    staged = await stage({ scenario: 'bounce-storm' });
  });
  afterAll(() => staged[Symbol.asyncDispose]());

  test('it tells the switch and the pause that the daemon would have made, with their reasons', async () => {
    const { run } = staged;
    const { code, out, err } = await run({ json: true });
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const outcome = JSON.parse(out);
    expect(outcome.mailboxes).toHaveLength(12);
    expect(mailboxIn(outcome, amelia)).toMatchObject({
      account: 'acme',
      mode: 'balanced',
      replay: { actions: [{ date: '2026-03-10', action: 'recovery', reason: 'bounce_rate_over_limit' }] },
    });
    expect(mailboxIn(outcome, jonas).replay.actions).toMatchObject([
      { date: '2026-03-10', action: 'pause', reason: 'emergency' },
    ]);
    expect(mailboxIn(outcome, jonas).replay).toMatchObject({ days_paused: 5, days_in_recovery: 0 });
    const untouched = outcome.mailboxes.filter((mailbox: Json) => mailbox.replay.interventions === 0);
    for (const mailbox of untouched) expect(mailbox.replay).toMatchObject({ bounces_avoided: 0, sends_lost: 0 });
    const sum = outcome.mailboxes.reduce((all: number, mailbox: Json) => all + mailbox.replay.interventions, 0);
    expect(outcome.totals).toMatchObject({ interventions: sum });
  });

  test('the table says what was done and why, mailbox by mailbox, with a total and what was assumed', async () => {
    const { run } = staged;
    const { out } = await run();
    expect(out).toMatch(/^What the guard would have done in the last 90 days: 12 mailboxes\./);
    expect(out).toMatch(new RegExp(`acme/${amelia} +balanced +1 +5 d +0 d`));
    expect(out).toMatch(/2026-03-10 pause \(emergency\)\. \d+ bounces in \d+ emails since 9 March/);
    expect(out).toMatch(/^total +2 +5 d +5 d/m);
    expect(out).toContain("- today's mode was the mode on all days");
    expect(out).toContain('at most 15 emails a day are sent');
  });
});

test('a wrong key is one sentence and exit code 1, without the key', async () => {
  await using staged = await stage({ account: { api_key: 'sk_live_wrong_one' } });
  const { config, workplace } = staged;
  const started = await commandLine(['backtest', '--config', config]);
  expect([started.code, started.stdout]).toEqual([1, '']);
  expect(started.stderr).toMatch(/^account acme: GET \/v1\/mailboxes: HTTP 401: .*\n$/);
  expect(started.stderr).not.toContain('sk_live_wrong_one');
  expect((await commandLine(['backtest', '--config', config, '--days', '91'])).code).toBe(2);
  expect((await commandLine(['backtest', '--config', workplace.path('none.yaml')])).code).toBe(2);
});

test('it asks for the days that are wanted, of the selected mailboxes only, and writes nothing', async () => {
  await using staged = await stage({ account: { mailboxes: { exclude: [bob.email] } } });
  const { run, simulator, idOf } = staged;
  const { code, out } = await run({ days: 3, json: true });
  expect(code).toBe(0);
  expect(JSON.parse(out).mailboxes.map((mailbox: Json) => mailbox.email)).toEqual([ann.email]);
  expect(mailboxIn(JSON.parse(out), ann.email).replay).toMatchObject({ from: '2026-03-13', to: '2026-03-15' });
  expect(simulator.requests.map(({ method }) => method)).toEqual(['GET', 'GET', 'GET']);
  expect(simulator.requests.some(({ path }) => path.includes(idOf(bob.email)))).toBe(false);
});

test('requests keep to the budget of the account', async () => {
  await using staged = await stage({ account: { requests_per_minute: 1_200, headroom: '50%' } });
  const { run } = staged;
  const before = performance.now();
  expect((await run()).code).toBe(0);
  // A list, two modes and two histories: four pauses of 100 ms.
  expect(performance.now() - before).toBeGreaterThan(390);
});

const firstDay = '2026-01-05';

const row = (day: number, sent: number | null, bounced: number | null) => rowOf(addDays(firstDay, day), sent, bounced);

/** `days` days of 40 emails, with bounces on some of them, by day. */
function pastOf(days: number, bounces: Readonly<Record<number, number>>, given: Partial<Past> = {}): Past {
  return {
    mode: 'balanced',
    weekdaysOnly: false,
    rows: Array.from({ length: days }, (_, day) => row(day, 40, bounces[day] ?? 0)),
    now: Date.parse(`${firstDay}T12:00:00Z`) + (days - 1) * dayMs,
    ...given,
  };
}

const story = (past: Past, policy = defaultPolicy) =>
  replayGuard(policy, past).actions.map(({ date, kind, verdict }) => `${date} ${kind} ${verdict.reason}`);

test('after a switch fifteen emails a day leave, until a week and 100 clean emails bring the mode back', () => {
  const replay = replayGuard(defaultPolicy, pastOf(30, { 10: 5 }));
  // 8 days of 15 from 16 January on: seven of them are over, and 120 emails are clean.
  expect(story(pastOf(30, { 10: 5 }))).toEqual([
    '2026-01-15 recovery bounce_rate_over_limit',
    '2026-01-23 restore clean_volume',
  ]);
  expect(replay).toMatchObject({ interventions: 1, daysInRecovery: 8, sendsLost: 8 * 25, bouncesAvoided: 0 });
});

test('the replay reads as many days as a long restore needs', () => {
  const patient = { ...defaultPolicy, restore: { ...defaultPolicy.restore, days: 45, cleanVolume: 5 } };
  expect(story(pastOf(90, { 10: 5 }), patient).map((line) => line.split(' ')[1])).toEqual(['recovery', 'restore']);
});

test('the old bounces do not fire again, and new ones in recovery end in a pause that stays', () => {
  const past = pastOf(40, { 10: 5, 13: 4, 15: 4, 30: 6 });
  expect(story(past)).toEqual([
    '2026-01-15 recovery bounce_rate_over_limit',
    '2026-01-20 pause bounce_rate_over_limit',
  ]);
  const replay = replayGuard(defaultPolicy, past);
  // 15 of 40 emails keep 1.5 bounces of 4: 1, then 2 with what was left over. From 21 January on none.
  expect(replay).toMatchObject({ interventions: 2, daysInRecovery: 5, daysPaused: 24 });
  expect(replay.bouncesAvoided).toBe(3 + 2 + 6);
  expect(replay.sendsLost).toBe(5 * 25 + 24 * 40);
});

test.each([
  ['a clean past is left alone', pastOf(90, {}), []],
  ['an emergency pauses at once', pastOf(20, { 10: 9 }), ['2026-01-15 pause emergency']],
  [
    'a mailbox that is in recovery today is judged by that limit on all days, and never restored',
    pastOf(40, { 10: 1, 12: 1 }, { mode: 'recovery' }),
    ['2026-01-17 pause bounce_rate_over_limit'],
  ],
])('%s', (_, past, actions) => {
  expect(story(past)).toEqual(actions);
});

test('days without a row count as no mail, and rows in any order are the same past', () => {
  const whole = pastOf(30, { 10: 5 });
  const rows = whole.rows.filter((_, day) => day !== 3 && day !== 4);
  const expected = replayGuard(defaultPolicy, { ...whole, rows });
  expect(replayGuard(defaultPolicy, { ...whole, rows: rows.toReversed() })).toEqual(expected);
  expect(expected).toMatchObject({ from: '2026-01-05', to: '2026-02-03', sent: 28 * 40, interventions: 1 });
});

test('an unreadable day holds the guard for the week in which it counts, an undated row for ever', () => {
  const unreadable = pastOf(30, { 10: 5 });
  const rows = unreadable.rows.with(9, row(9, null, null));
  const held = replayGuard(defaultPolicy, { ...unreadable, rows });
  expect(held).toMatchObject({ daysHeld: 7, interventions: 1 });
  expect(held.actions[0]?.date).toBe('2026-01-21');
  const undated = { ...row(0, 5, 0), date: null };
  expect(replayGuard(defaultPolicy, { ...unreadable, rows: [...unreadable.rows, undated] })).toMatchObject({
    daysHeld: 30,
    actions: [],
  });
});

test('in a mode that nobody knows the days are held, and only an emergency acts', () => {
  const unknown = { mode: 'turbo' };
  expect(replayGuard(defaultPolicy, pastOf(10, { 5: 3 }, unknown))).toMatchObject({ daysHeld: 10, actions: [] });
  expect(story(pastOf(10, { 5: 30 }, unknown))).toEqual(['2026-01-10 pause emergency']);
});
