// The simulator tells the truth about itself: the fields of its routes, the four ways of counting requests, a fleet that follows from its seed,
// scenarios that do what they promise (the bounce storm: test/act/acting.test.ts), faults that meet whom they name, and the troubles that a
// person causes in one that runs.

import { expect, test } from 'vitest';
import { agencyFleet, generatedFleet } from '../../tools/simulator/agency-fleet.ts';
import { demoKey } from '../../tools/simulator/keys.ts';
import { movedClock } from '../../tools/simulator/moved-clock.ts';
import { type WarmupMode, warmupModes } from '../../tools/simulator/ramp.ts';
import { createLimiter } from '../../tools/simulator/rate-limit.ts';
import type { MailboxSpec, Scenario } from '../../tools/simulator/scenario.ts';
import { scenarioStart } from '../../tools/simulator/scenarios.ts';
import { ann, bob, dayMs, hourMs, type Json, scenarioOf, serve } from './served.ts';

const hours = 10;

/** Route, place in its answer, and the fields that the document gives. */
test.each([
  '/v1/mailboxes mailboxes.0: id email provider status health_score daily_limit warmup_day created_at',
  '/v1/warmup: mailbox_id email status health_score daily_limit warmup_day warmup_mode config recent_emails',
  '/v1/warmup config: target_daily_limit reply_rate thread_rate weekdays_only send_window_start send_window_end',
  '/v1/warmup recent_emails.9: id status landed_in subject scheduled_at sent_at bounce_type bounce_category',
  '/v1/stats stats.6: date sent delivered opened replied bounced spam_landed inbox_rate bounce_rate reply_rate health_score',
])('%s, and no other field', async (documented) => {
  const [where = '', fields = ''] = documented.split(': ');
  const [route, place] = where.split(' ');
  await using served = await serve();
  await served.clock.advance(hours * hourMs);
  const { body } = await served.ask(`${route}?mailbox_id=${served.idOf(ann.email)}`);
  const part = (place?.split('.') ?? []).reduce((inner, key) => inner[key], body);
  expect(Object.keys(part)).toEqual(fields.split(' '));
});

test('statistics cover seven days unless asked otherwise, today last, rates as strings', async () => {
  await using served = await serve();
  await served.clock.advance(hours * hourMs);
  const { body } = await served.ask(`/v1/stats?mailbox_id=${served.idOf(ann.email)}`);
  const today = body.stats[6];
  expect([body.stats.length, body.stats[0].date, today.date]).toEqual([7, '2026-03-04', '2026-03-10']);
  expect(today).toMatchObject({ sent: 40, reply_rate: ((today.replied / 40) * 100).toFixed(2) });
  expect(body.stats[3]).toMatchObject({ sent: 0, bounce_rate: '0.00', inbox_rate: '0.00', reply_rate: '0.00' });
});

test('request 101 within sixty seconds is a 429 that says when the next one is welcome, health apart', async () => {
  const keys = [{ key: demoKey, permissions: ['read', 'write'], plan: 'pro' }] as const;
  await using served = await serve({ keys });
  for (let request = 1; request <= 100; request += 1) {
    const { headers } = await served.ask(request % 2 ? '/v1/mailboxes' : '/v1/nothing');
    expect(headers).toMatchObject({ 'x-ratelimit-limit': '100', 'x-ratelimit-remaining': String(100 - request) });
    if (request === 1) await served.clock.advance(10_500);
  }
  const { status, headers } = await served.ask('/v1/mailboxes');
  expect([status, headers['retry-after'], headers['x-ratelimit-remaining']]).toEqual([429, '50', '0']);
  expect((await served.ask('/v1/health')).status).toBe(200);
});

const limitPerMinute = 60;

test.each([
  ['sliding', [60, 0, 60]],
  ['fixed', [60, 60, 0]],
  ['token_bucket', [60, 30, 30]],
  ['small_bucket', [6, 6, 6]],
] as const)(
  'a %s limiter lets %j through at once: after half a minute, one, and one and a half',
  async (kind, admitted) => {
    const clock = movedClock(Date.UTC(2026, 2, 10, 8, 30));
    const limiter = createLimiter(kind, limitPerMinute, clock);
    const counts: number[] = [];
    for (const _ of admitted) {
      await clock.advance(30_000);
      const burst = Array.from({ length: 3 * limitPerMinute }, () => limiter.knock());
      counts.push(burst.filter((knock) => knock.admitted).length);
    }
    expect(counts).toEqual(admitted);
  },
);

const email = 'ann@one.example';
/** Everything a client can see of a mailbox. */
async function everything(served: Awaited<ReturnType<typeof serve>>, address: string) {
  return [await served.stats(address), await served.warmup(address)];
}

test('the same seed gives the same answers, whatever was asked before, when, and of whom', async () => {
  await using quiet = await serve({ seed: 7 });
  await using busy = await serve({ seed: 7, scenario: scenarioOf([bob, { ...ann, email: 'z@z.example' }, ann]) });
  await quiet.clock.advance(12 * dayMs);
  for (let step = 0; step < 48; step += 1) {
    await busy.clock.advance(6 * hourMs);
    await busy.warmup(step % 2 ? email : 'bob@two.example');
    if (step % 5 === 0) await busy.act('z@z.example', step % 2 ? 'pause' : 'resume');
  }
  expect(await everything(busy, email)).toEqual(await everything(quiet, email));
  expect(await everything(busy, 'bob@two.example')).toEqual(await everything(quiet, 'bob@two.example'));
  await using other = await serve({ seed: 8 });
  await other.clock.advance(12 * dayMs);
  expect(other.idOf(email)).not.toBe(quiet.idOf(email));
  expect((await other.stats(email)).map((row) => row.opened)).not.toEqual(
    (await quiet.stats(email)).map((r) => r.opened),
  );
});

const total = (rows: readonly Json[], count: string): number => rows.reduce((sum, row) => sum + row[count], 0);

const limits: Record<WarmupMode, number> = { slow: 0.005, balanced: 0.01, aggressive: 0.02, recovery: 0.003 };

/** The guard's plain rules, written again here: the simulator may not lean on the guard. */
function verdictOn({
  rows,
  config,
}: {
  readonly rows: readonly Json[];
  readonly config: { readonly mode: WarmupMode };
}) {
  const [week, twoDays] = [rows.slice(-7), rows.slice(-2)].map((days) => [total(days, 'sent'), total(days, 'bounced')]);
  const [sent = 0, bounced = 0] = week ?? [];
  const [lately = 0, burnt = 0] = twoDays ?? [];
  if (burnt >= 3 && burnt >= lately / 10) return 'emergency';
  return bounced >= 2 && bounced > limits[config.mode] * sent ? 'breach' : 'ok';
}

test('calm exceeds no limit in sixty days; provider-block bounces at every Google mailbox, and at no other', async () => {
  const troubled = async (scenario: Scenario | 'provider-block', hours: number) => {
    await using served = await serve({ scenario });
    await served.clock.advance(hours * hourMs);
    return served.simulator.fleet.mailboxes().filter((one) => verdictOn(one) !== 'ok');
  };
  for (const days of [1, 20, 60])
    expect(await troubled(scenarioOf([...agencyFleet, ...generatedFleet(60, 20)]), 24 * days)).toEqual([]);
  const blocked = await troubled('provider-block', 11.5);
  const providerOf = (address: string) => agencyFleet.find((spec) => spec.email === address)?.provider;
  expect(blocked.length).toBeGreaterThan(3);
  expect([...new Set(blocked.map((one) => providerOf(one.email)))]).toEqual(['google']);
});

test('the admin route adds, lists and takes away, and says what is wrong with a rule', async () => {
  await using served = await serve();
  const add = (body: object) => served.ask('/admin/faults', { body });
  expect((await add({ fault: 'bad-gateway', method: 'GET', from: '0s', until: '90m' })).status).toBe(201);
  expect((await served.ask('/admin/faults')).body.faults).toEqual([
    { fault: 'bad-gateway', method: 'GET', from: 0, until: 5_400_000, met: 0 },
  ]);
  expect((await add({ fault: 'no-such' })).body).toEqual({ error: 'there is no fault "no-such"' });
  expect((await add({ fault: 'late', rout: 'stats' })).body.error).toMatch(/rout/);
  expect((await add({ fault: 'late', from: '2 hours' })).body.error).toMatch(/a duration such as/);
  expect((await served.ask('/admin/faults', { method: 'DELETE' })).status).toBe(200);
  expect((await served.ask('/v1/mailboxes')).status).toBe(200);
  expect((await served.ask('/admin/nothing')).status).toBe(404);
});

test('S10, S11: doubled, unordered, missing and frozen days', async () => {
  await using served = await serve();
  const plain = await served.stats(ann.email, 5);
  const under = async (fault: string) => {
    await served.ask('/admin/faults', { method: 'DELETE' });
    await served.ask('/admin/faults', { body: { fault, route: 'stats' } });
    return served.stats(ann.email, 5);
  };
  expect(await under('days-doubled')).toEqual([...plain, plain[0]]);
  expect(await under('days-unordered')).toEqual(plain.toReversed());
  expect(await under('days-missing')).toEqual([plain[0]]);
  const frozen = await under('frozen');
  await served.clock.advance(72 * hourMs);
  expect(await served.stats(ann.email, 5)).toEqual(frozen);
});

/** Four days after the Tuesday on which scenarios begin. */
const saturday = scenarioStart + 4 * dayMs;
const emailOf = (mode: WarmupMode) => `${mode}@one.example`;
const oneOfEachMode: readonly MailboxSpec[] = warmupModes.map((mode) => ({ ...ann, email: emailOf(mode), mode }));

type Served = Awaited<ReturnType<typeof serve>>;

const strike = (served: Served, kind: string, target: string) =>
  served.ask('/admin/troubles', { key: null, body: { kind, target } });

/** Over the last `days`: the emails, their bounces, and whether at least three bounces are a tenth of the emails. */
async function bouncesOf(served: Served, mailbox: string, days: number) {
  const rows = await served.stats(mailbox, days);
  const [sent, bounced] = [total(rows, 'sent'), total(rows, 'bounced')];
  return { sent, bounced, burning: bounced >= 3 && bounced >= sent / 10 };
}

test.each(warmupModes)(
  '%s mode: a breach exceeds its limit at once and is no emergency, also on a Saturday',
  async (mode) => {
    for (const startAt of [scenarioStart, saturday]) {
      await using served = await serve({ startAt, scenario: scenarioOf(oneOfEachMode) });
      const { body } = await strike(served, 'breach', emailOf(mode));
      const week = await bouncesOf(served, emailOf(mode), 7);
      expect([week.bounced >= 2, week.bounced / week.sent > limits[mode]]).toEqual([true, true]);
      expect((await bouncesOf(served, emailOf(mode), 2)).burning).toBe(false);
      expect(body.message).toContain(`${week.sent} emails in the last 7 days, and ${week.bounced} of them bounced`);
      await strike(served, 'emergency', emailOf(mode));
      expect((await bouncesOf(served, emailOf(mode), 2)).burning).toBe(true);
    }
  },
);

test('a DNS failure of a domain shows at once in every mailbox of it, until it is repaired', async () => {
  const anns = [ann, { ...ann, email: 'amy@one.example' }];
  await using served = await serve({ scenario: scenarioOf([...anns, bob]) });
  const spf = async (mailbox: string) =>
    (await served.ask(`/v1/dns?mailbox_id=${served.idOf(mailbox)}`)).body.spf.status as string;
  const all = () => Promise.all([...anns, bob].map((one) => spf(one.email)));
  await strike(served, 'dns-failure', 'ONE.example');
  expect(await all()).toEqual(['fail', 'fail', 'pass']);
  expect((await strike(served, 'repair', ann.email)).body.mailboxes).toHaveLength(2);
  expect(await all()).toEqual(['pass', 'pass', 'pass']);
});

test.each([
  ['what the fleet does not have', 'breach', 'nobody@two.example', 404, /fleet has no nobody@two\.example\. It has /],
  ['what sends nothing', 'emergency', ann.email, 409, /is paused, so it sends nothing\./],
  ['an unknown trouble', 'flood', bob.email, 400, /./],
  ['a target of a trouble without one', 'unwell', bob.email, 400, /./],
])('%s is refused with a sentence, and nothing changes', async (_, kind, target, status, said) => {
  await using served = await serve();
  await served.act(ann.email, 'pause');
  const before = [await served.stats(ann.email), await served.stats(bob.email)];
  const refused = await strike(served, kind, target);
  expect([refused.status, refused.body.error]).toEqual([status, expect.stringMatching(said)]);
  expect([await served.stats(ann.email), await served.stats(bob.email)]).toEqual(before);
});
