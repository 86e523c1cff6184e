// What a person lets go wrong in a simulator that runs: at once, on any day, and in the measure that a guard acts on.
import { describe, expect, test } from 'vitest';
import { modeRamps, type WarmupMode, warmupModes } from '../../tools/simulator/ramp.ts';
import type { MailboxSpec } from '../../tools/simulator/scenario.ts';
import { scenarioStart } from '../../tools/simulator/scenarios.ts';
import { goOnDuty, jonas, oliver, stormOf } from '../account/duty.ts';
import { ann, bob, dayMs, hourMs, type Json, scenarioOf, serve } from './served.ts';

/** Four days after the Tuesday on which scenarios begin. */
const saturday = scenarioStart + 4 * dayMs;
const limits: Readonly<Record<WarmupMode, number>> = { slow: 0.005, balanced: 0.01, aggressive: 0.02, recovery: 0.003 };

const email = (mode: WarmupMode) => `${mode}@one.example`;
const oneOfEachMode: readonly MailboxSpec[] = warmupModes.map((mode) => ({ ...ann, email: email(mode), mode }));

type Served = Awaited<ReturnType<typeof serve>>;

const strike = (served: Served, kind: string, target: string) =>
  served.ask('/admin/troubles', { key: null, body: { kind, target } });

const total = (rows: readonly Json[], count: string): number => rows.reduce((sum, row) => sum + row[count], 0);

/** Over the last `days`: the share of emails that bounced, and whether at least three bounces are a tenth of the emails. */
async function bouncesOf(served: Served, mailbox: string, days: number) {
  const rows = await served.stats(mailbox, days);
  const [sent, bounced] = [total(rows, 'sent'), total(rows, 'bounced')];
  return { sent, bounced, rate: bounced / sent, burning: bounced >= 3 && bounced >= sent / 10 };
}

const moments = [
  ['a Tuesday before anybody sends', scenarioStart],
  ['a Tuesday afternoon', scenarioStart + 6 * hourMs],
  ['a Saturday', saturday],
] as const;

describe.each(moments)('on %s', (_name, startAt) => {
  test.each(warmupModes)('a breach of %s mode exceeds its limit at once, and is no emergency', async (mode) => {
    await using served = await serve({ startAt, scenario: scenarioOf(oneOfEachMode) });
    const { status, body } = await strike(served, 'breach', email(mode));
    expect([status, body.mailboxes]).toEqual([201, [email(mode)]]);
    const week = await bouncesOf(served, email(mode), 7);
    expect(week.bounced).toBeGreaterThanOrEqual(2);
    expect(week.rate).toBeGreaterThan(limits[mode]);
    expect((await bouncesOf(served, email(mode), 2)).burning).toBe(false);
    expect(body.message).toContain(
      `${email(mode)} sent ${week.sent} emails in the last 7 days, and ${week.bounced} of them bounced`,
    );
    for (const { sent, bounced, delivered, spam_landed } of await served.stats(email(mode))) {
      expect([bounced + delivered <= sent, spam_landed <= delivered]).toEqual([true, true]);
    }
  });

  test.each(warmupModes)('an emergency of %s mode burns today, within what the mode may send a day', async (mode) => {
    await using served = await serve({ startAt, scenario: scenarioOf(oneOfEachMode) });
    expect((await strike(served, 'emergency', email(mode))).status).toBe(201);
    expect((await bouncesOf(served, email(mode), 2)).burning).toBe(true);
    expect((await bouncesOf(served, email(mode), 1)).bounced).toBeGreaterThanOrEqual(3);
    await served.clock.advance(15 * hourMs);
    expect((await served.stats(email(mode), 2))[0].sent).toBeLessThanOrEqual(modeRamps[mode].max);
  });
});

test('a DNS failure of a domain shows at once in every mailbox of it, until it is repaired', async () => {
  const anns = [ann, { ...ann, email: 'amy@one.example' }];
  await using served = await serve({ scenario: scenarioOf([...anns, bob]) });
  const spf = async (mailbox: string) =>
    (await served.ask(`/v1/dns?mailbox_id=${served.idOf(mailbox)}`)).body.spf.status as string;
  const all = () => Promise.all([...anns, bob].map((one) => spf(one.email)));
  expect((await strike(served, 'dns-failure', 'ONE.example')).body.mailboxes).toEqual(anns.map((one) => one.email));
  expect(await all()).toEqual(['fail', 'fail', 'pass']);
  expect((await strike(served, 'repair', ann.email)).body.mailboxes).toHaveLength(2);
  expect(await all()).toEqual(['pass', 'pass', 'pass']);
  // The domain of a mailbox is meant where one is named.
  await strike(served, 'dns-failure', bob.email);
  expect(await all()).toEqual(['pass', 'pass', 'fail']);
});

test('the health check is unwell, its clock off, or both, until it is well; other answers stay as they are', async () => {
  await using served = await serve();
  const ail = (kind: string) => served.ask('/admin/troubles', { key: null, body: { kind } });
  const health = async () => {
    const { status, timestamp } = (await served.ask('/v1/health')).body;
    return [status, Date.parse(timestamp) - served.clock.now()];
  };
  expect((await ail('unwell')).body).toMatchObject({ mailboxes: [], caveat: null });
  expect(await health()).toEqual(['degraded', 0]);
  expect(await served.warmup(ann.email)).toMatchObject({ status: 'active' });
  await ail('clock-off');
  expect(await health()).toEqual(['degraded', 300_000]);
  await ail('well');
  expect(await health()).toEqual(['ok', 0]);
  expect((await served.ask('/admin/troubles', { key: null, body: { kind: 'unwell', target: ann.email } })).status).toBe(
    400,
  );
  expect((await ail('breach')).status).toBe(400);
});

test('what the fleet does not have, and what sends nothing, is refused with a sentence, and nothing changes', async () => {
  await using served = await serve();
  const before = await served.stats(ann.email);
  for (const kind of ['breach', 'emergency', 'dns-failure', 'disconnect', 'repair']) {
    const { status, body } = await strike(served, kind, 'nobody@two.example');
    expect([status, body.error]).toEqual([
      404,
      'The simulated fleet has no nobody@two.example. It has ann@one.example, bob@two.example.',
    ]);
  }
  await served.act(ann.email, 'pause');
  const paused = await strike(served, 'breach', ann.email);
  expect([paused.status, paused.body.error]).toEqual([
    409,
    'The warm-up of ann@one.example is paused, so it sends nothing. Choose another mailbox, or resume it.',
  ]);
  await strike(served, 'disconnect', bob.email);
  expect((await strike(served, 'emergency', bob.email)).status).toBe(409);
  expect((await strike(served, 'flood', ann.email)).status).toBe(400);
  expect(await served.stats(ann.email)).toEqual(before);
});

test.each([
  ['breach', 'recovery'],
  ['emergency', 'pause'],
] as const)('on a Saturday on which nobody sends, a guard answers a %s with a %s', async (kind, action) => {
  // Sends on weekdays only, and every day.
  for (const mailbox of [oliver, jonas]) {
    await using duty = await goOnDuty({ scenario: { ...stormOf(mailbox), incidents: [] }, afterMs: 4 * dayMs });
    await duty.run(30 * 60_000);
    expect(duty.action(mailbox)).toBeNull();
    await fetch(`${duty.simulator.url}/admin/troubles`, {
      method: 'POST',
      body: JSON.stringify({ kind, target: mailbox }),
    });
    await duty.until(() => duty.action(mailbox)?.state === 'confirmed', hourMs);
    expect(duty.action(mailbox)?.kind).toBe(action);
  }
});
