// Faults and incidents put in by a scenario file and by the admin route, and what a person lets go wrong in a simulator that runs:
// whom they meet, when, and how often.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type WarmupMode, warmupModes } from '../../tools/simulator/ramp.ts';
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
      const { body } = await strike(served, 'breach', email(mode));
      const week = await bouncesOf(served, email(mode), 7);
      expect([week.bounced >= 2, week.bounced / week.sent > limits[mode]]).toEqual([true, true]);
      expect((await bouncesOf(served, email(mode), 2)).burning).toBe(false);
      expect(body.message).toContain(`${week.sent} emails in the last 7 days, and ${week.bounced} of them bounced`);
      await strike(served, 'emergency', email(mode));
      expect((await bouncesOf(served, email(mode), 2)).burning).toBe(true);
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
  [
    'what the fleet does not have',
    'breach',
    'nobody@two.example',
    404,
    /^The simulated fleet has no nobody@two\.example\. It has /,
  ],
  [
    'what sends nothing',
    'emergency',
    ann.email,
    409,
    /is paused, so it sends nothing\. Choose another mailbox, or resume it\.$/,
  ],
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
