// The daemon as a process against a warm-up service that this project's client and simulator know nothing of: what it writes,
// what it tells, what it shows, and when it keeps its hands off.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Stage } from '../support/guarded.ts';
import { type Day, type Fault, type OtherMailbox, week } from '../support/other-api.ts';
import type { ReceivedAlert } from '../support/receiver.ts';
import { until } from '../support/until.ts';

/** 4 of 280 are 1.43%: over balanced's 1%. */
const overBalanced = week(40, 4);
/** 6 of today's and yesterday's 50 are 12%: an emergency in any mode. */
const burst: readonly Day[] = [{ daysAgo: 0, sent: 10, bounced: 6 }, ...week(40, 0).slice(1)];

const acted = ['breach', 'slow', 'burst', 'burst-in-no-known-mode'];

/** Resolves when the mailbox's statistics were read `rounds` more times: a second write would have come by then. */
async function moreRounds(stage: Stage, mailbox: OtherMailbox, rounds: number): Promise<void> {
  const before = stage.api.reads('/v1/stats', mailbox).length;
  await until(`${rounds} more reads of ${mailbox.email}`, () => {
    return stage.api.reads('/v1/stats', mailbox).length >= before + rounds;
  });
}

function alertsSentOf(stage: Stage, mailbox: OtherMailbox, rule: string): readonly ReceivedAlert[] {
  return stage.receiver.alerts().filter((alert) => alert.mailbox === mailbox.email && alert.rule === rule);
}

/** Resolves when both channels were told of the rule and the mailbox. */
async function sentEverywhere(stage: Stage, mailbox: OtherMailbox, rule: string): Promise<ReceivedAlert> {
  const alert = await until(`${rule} of ${mailbox.email} on the webhook`, () => alertsSentOf(stage, mailbox, rule)[0]);
  await until(`${rule} of ${mailbox.email} in Slack`, () =>
    stage.receiver.slack().some((text) => text.includes(mailbox.email) && text.includes(rule)),
  );
  return alert;
}

describe('a mixed fleet on an API of somebody else', () => {
  let stage: Stage;
  const fleet: Record<string, OtherMailbox> = {};
  const mailbox = (name: string): OtherMailbox => {
    const found = fleet[name];
    if (!found) throw new Error(`there is no mailbox ${name}`);
    return found;
  };
  const withDay = (sent: unknown, bounced: unknown) => [{ daysAgo: 1, sent, bounced }, ...overBalanced.slice(2)];
  // One domain: the breaker asks for three before it holds everything.
  const given: Readonly<Record<string, Partial<OtherMailbox>>> = {
    breach: { days: overBalanced },
    slow: { mode: 'slow', days: week(20, 2) },
    burst: { days: burst },
    'burst-in-no-known-mode': { mode: 'turbo', days: burst },
    clean: {},
    'exactly-at-the-limit': { days: week(40, 2).slice(0, 5) },
    'one-bounce': { days: week(10, 1) },
    aggressive: { mode: 'aggressive', days: overBalanced },
    new: { days: [] },
    'in-recovery-with-old-bounces': { mode: 'recovery', days: week(15, 4) },
    'paused-by-a-person': { status: 'paused', days: burst },
    finished: { status: 'finished', days: overBalanced },
    'unknown-mode': { mode: 'turbo', days: overBalanced },
    'unknown-status': { status: 'frobnicating', days: overBalanced.slice(2) },
    stale: { days: overBalanced.map((day) => ({ ...day, daysAgo: day.daysAgo + 5 })) },
    'not-an-array': { days: overBalanced, statsInstead: { [String(new Date())]: overBalanced } },
    'count-in-words': { days: withDay('many', 4) },
    'negative-count': { days: withDay(40, -1) },
    'more-bounced-than-sent': { days: week(2, 40) },
  };

  beforeAll(async () => {
    stage = await Stage.open();
    for (const [name, how] of Object.entries(given)) fleet[name] = stage.api.add(`${name}@fleet.example`, how);
    stage.start();
    for (const name of acted) await sentEverywhere(stage, mailbox(name), 'guard_acted');
    await Promise.all(Object.values(fleet).map((one) => moreRounds(stage, one, 2)));
  });
  afterAll(() => stage[Symbol.asyncDispose]());

  it('is acted on with exactly one POST for each breach and emergency, and with none for any other mailbox', () => {
    const recovery = { action: 'update_config', config: { warmup_mode: 'recovery' } };
    const changes = [recovery, recovery, { action: 'pause' }, { action: 'pause' }];
    expect(acted.map((name) => stage.api.posts(mailbox(name)).map(({ body }) => body))).toEqual(
      acted.map((name, index) => [{ mailbox_id: mailbox(name).id, ...changes[index] }]),
    );
    expect(Object.keys(fleet).filter((name) => stage.api.posts(mailbox(name)).length > 0)).toEqual(acted);
    // It asks only what the document knows.
    expect(stage.api.log.filter(({ status }) => status >= 400)).toEqual([]);
  });

  it('is told once each, signed, with the counts, the limit and the outcome, and without a secret', async () => {
    const [alert] = alertsSentOf(stage, mailbox('breach'), 'guard_acted');
    const [pause] = alertsSentOf(stage, mailbox('burst'), 'guard_acted');
    const over = { sent: 280, bounced: 4, limit_percent: 1, reason: 'bounce_rate_over_limit', action: 'recovery' };
    const numbers = { ...over, outcome: 'confirmed', mode_before: 'balanced' };
    expect(alert).toMatchObject({ severity: 'warning', status: 'event', numbers });
    const emergency = { reason: 'emergency', action: 'pause', outcome: 'confirmed' };
    expect(pause).toMatchObject({ severity: 'critical', numbers: emergency });
    const slack = stage.receiver.slack().join('\n');
    for (const text of ['breach@fleet.example', '4 bounces in 280 emails', 'limit of 1%'])
      expect(slack).toContain(text);
    for (const name of acted) expect(alertsSentOf(stage, mailbox(name), 'guard_acted')).toHaveLength(1);
    const texts = [stage.daemon.output, ...stage.receiver.notified.map(({ text }) => text)].join('\n');
    for (const secret of [stage.key, stage.receiver.secret, 'SLACKSECRET']) expect(texts).not.toContain(secret);
  });

  it('is shown in the metrics as it is', async () => {
    const metrics = await stage.metrics();
    const actions = (action: string) => metrics.value('guard_actions_total', { action, outcome: 'confirmed' });
    expect([actions('recovery'), actions('pause')]).toEqual([2, 2]);
    for (const [name, state] of [
      ['breach', 'recovering'],
      ['burst', 'paused_by_guard'],
      ['clean', 'ok'],
      ['paused-by-a-person', 'paused_by_others'],
      ['unknown-mode', 'not_judged'],
    ] as const)
      expect([name, metrics.value('guard_state', { mailbox: mailbox(name).email, state })]).toEqual([name, 1]);
  });
});

it('each change that was made is confirmed, whatever an API answers or shows late, and one that was not made is reported as unconfirmed', async () => {
  await using stage = await Stage.open();
  const add = (name: string, days: readonly Day[] = overBalanced) => stage.api.add(`${name}@a.example`, { days });
  const [lost, refused, late, liar] = [add('lost'), add('refused'), add('late'), add('liar')];
  const [crashed, throttled] = [add('crashed', burst), add('throttled', burst)];
  const faults = new Map<string, Fault>([
    [lost.id, { kind: 'lose' }],
    [crashed.id, { kind: 'answer', status: 500, body: '<h1>oops</h1>', applied: true }],
    [refused.id, { kind: 'answer', status: 403, body: '{"error":"no"}', applied: true }],
    [
      throttled.id,
      { kind: 'answer', status: 429, body: '{"error":"wait"}', headers: { 'retry-after': '1' }, applied: true },
    ],
    [late.id, { kind: 'pretend' }],
    [liar.id, { kind: 'pretend' }],
  ]);
  let looks = 0;
  stage.api.fault = ({ method, path, mailboxId }) => {
    if (method === 'POST') return faults.get(mailboxId ?? '');
    const looking = mailboxId === late.id && path === '/v1/warmup' && stage.api.posts(late).length > 0;
    if (looking) looks += 1;
    if (looks === 3) late.mode = 'recovery';
    return undefined;
  };
  stage.start();
  const made = [lost, crashed, refused, throttled, late];
  for (const mailbox of made) {
    const alert = await sentEverywhere(stage, mailbox, 'guard_acted');
    expect([mailbox.email, alert.numbers['outcome']]).toEqual([mailbox.email, 'confirmed']);
  }
  const alert = await sentEverywhere(stage, liar, 'guard_acted');
  expect(alert.numbers).toMatchObject({ outcome: 'unconfirmed' });
  await Promise.all([lost, refused, liar].map((mailbox) => moreRounds(stage, mailbox, 2)));
  for (const mailbox of [...made, liar]) {
    expect([mailbox.email, stage.api.posts(mailbox).length]).toEqual([mailbox.email, 1]);
  }
  const metrics = await stage.metrics();
  expect(metrics.value('account_writable', { account: 'acme' })).toBe(1);
  const recoveries = (outcome: string) => metrics.value('guard_actions_total', { action: 'recovery', outcome });
  expect([recoveries('confirmed'), recoveries('unconfirmed')]).toEqual([3, 1]);
});
