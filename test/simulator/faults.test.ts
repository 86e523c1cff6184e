// Faults and incidents put in by a scenario file and by the admin route, and what a person lets go wrong in a simulator that runs:
// whom they meet, when, and how often.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { modeRamps, type WarmupMode, warmupModes } from '../../tools/simulator/ramp.ts';
import type { MailboxSpec } from '../../tools/simulator/scenario.ts';
import { scenarioStart } from '../../tools/simulator/scenarios.ts';
import { newFolder } from '../support/new-folder.ts';
import { bin, node } from '../support/process.ts';
import { ann, bob, dayMs, hourMs, type Json, scenarioOf, serve } from './served.ts';

test('a rule meets its route, method, mailbox, time and number only', async () => {
  const rule = {
    fault: 'missing',
    route: 'stats',
    mailbox: 'ann@*',
    from: hourMs,
    until: 3 * hourMs,
    times: 2,
  } as const;
  await using served = await serve({ scenario: { ...scenarioOf([ann, bob]), faults: [rule] } });
  const statusOf = async (path: string, email: string) =>
    (await served.ask(`${path}?mailbox_id=${served.idOf(email)}`)).status;
  expect(await statusOf('/v1/stats', ann.email)).toBe(200);
  await served.clock.advance(hourMs);
  expect(await statusOf('/v1/warmup', ann.email)).toBe(200);
  expect(await statusOf('/v1/stats', bob.email)).toBe(200);
  expect([await statusOf('/v1/stats', ann.email), await statusOf('/v1/stats', ann.email)]).toEqual([404, 404]);
  expect(await statusOf('/v1/stats', ann.email)).toBe(200);
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

test('H6, H7, H8, H9: pretended, applied but failed, late and lost writes do what their names say', async () => {
  await using served = await serve();
  const state = async () => (await served.warmup(ann.email)).status;
  const act = async (fault: string, action: string) => {
    await served.ask('/admin/faults', { body: { fault, method: 'POST', times: 1 } });
    const status = await served.act(ann.email, action).then(
      (reply) => reply.status,
      () => 'lost',
    );
    return [status, await state()];
  };
  expect(await act('pretend', 'pause')).toEqual([200, 'active']);
  expect(await act('applied-but-500', 'pause')).toEqual([500, 'paused']);
  expect(await act('late', 'resume')).toEqual([200, 'paused']);
  await served.clock.advance(5_000);
  expect(await state()).toBe('active');
  expect(await act('applied-but-lost', 'pause')).toEqual(['lost', 'paused']);
  expect(await act('reset', 'resume')).toEqual(['lost', 'paused']);
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

test('S9: a mailbox that is connected again has another id, and no history', async () => {
  await using served = await serve();
  const before = served.idOf(ann.email);
  const rows = (await served.stats(ann.email)).length;
  await served.ask('/admin/incidents', { body: { kind: 'reconnect', mailbox: ann.email, from: 0 } });
  expect(served.idOf(ann.email)).not.toBe(before);
  expect((await served.stats(ann.email)).length).toBeLessThan(rows);
  expect((await served.ask(`/v1/stats?mailbox_id=${before}`)).status).toBe(404);
  expect((await served.ask('/v1/mailboxes')).body.mailboxes).toHaveLength(2);
});

test('a scenario file that is wrong is one sentence on the command line', () => {
  const file = join(newFolder(), 'bad.yaml');
  writeFileSync(file, 'incidents: [{kind: flood, mailbox: "*", from: 1h}]\n');
  const { status, stderr } = spawnSync(node, [bin, 'simulator', '--port', '0', '--file', file], {
    encoding: 'utf8',
  });
  expect(status).toBe(2);
  expect(stderr).toMatch(/--file.*incidents\.0/s);
});

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
