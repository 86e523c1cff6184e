// What a person lets go wrong in a simulator that runs: at once, on any day, and in the measure that a guard acts on.
import { describe, expect, test } from 'vitest';
import { createLog, movedClock } from '../../src/world/world.ts';
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
  ['a Sunday', saturday + dayMs],
  ['a Monday morning', saturday + 2 * dayMs],
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

test('the emails that came back show in the last emails, and a second breach adds nothing', async () => {
  await using served = await serve({ startAt: scenarioStart + 8 * hourMs });
  await strike(served, 'emergency', ann.email);
  const emails: Json[] = (await served.warmup(ann.email)).recent_emails;
  expect(emails.some(({ status, bounce_type }) => status === 'bounced' && bounce_type === 'hard')).toBe(true);
  await strike(served, 'breach', bob.email);
  const before = await served.stats(bob.email);
  expect((await strike(served, 'breach', bob.email)).status).toBe(201);
  expect(await served.stats(bob.email)).toEqual(before);
});

test('a mailbox is named by its id, too, and in any case', async () => {
  await using served = await serve();
  const { body } = await strike(served, 'disconnect', served.idOf(bob.email));
  expect(body.mailboxes).toEqual([bob.email]);
  expect((await strike(served, 'breach', 'ANN@one.EXAMPLE')).body.mailboxes).toEqual([ann.email]);
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

test('a DNS failure shows, and a repair of DNS and listings, where each look at the clock is later than the last', async () => {
  const moved = movedClock(scenarioStart);
  let looks = 0;
  const clock = { ...moved, now: () => moved.now() + looks++ };
  const log = createLog({ level: 'silent', format: 'json' }, clock);
  await using served = await serve({ world: { clock, random: () => 0.5, log, command: 'warmwarden' } });
  const check = async (of: string) => (await served.ask(`/v1/${of}?mailbox_id=${served.idOf(ann.email)}`)).body;
  expect((await check('dns')).spf.status).toBe('pass');
  const before = clock.now();
  await strike(served, 'dns-failure', ann.email);
  const failed = await check('dns');
  expect([failed.spf.status, Date.parse(failed.checked_at) > before]).toEqual(['fail', true]);
  expect((await check('dns')).checked_at).toBe(failed.checked_at);
  served.simulator.fleet.addIncident({ kind: 'listing', mailbox: ann.email, lists: ['list.example'], from: 0 });
  const listed = async () => JSON.stringify(await check('blacklist')).includes('list.example');
  await served.ask(`/v1/blacklist?mailbox_id=${served.idOf(ann.email)}&refresh=true`);
  expect(await listed()).toBe(true);
  await strike(served, 'repair', ann.email);
  expect([(await check('dns')).spf.status, await listed()]).toEqual(['pass', false]);
});

test('a repair names the domain that it repairs, by a mailbox of it, too', async () => {
  await using served = await serve({ scenario: scenarioOf([ann, { ...ann, email: 'amy@one.example' }, bob]) });
  const message = async (target: string) => (await strike(served, 'repair', target)).body.message;
  const start = 'DNS, listings and logins of the domain';
  expect(await message(ann.email)).toContain(`${start} one.example (2 mailboxes) are in order again.`);
  expect(await message('two.example')).toContain(`${start} two.example (1 mailbox) are in order again.`);
});

test('a breach says when a guard does nothing about it: in recovery mode, and on the day of a change', async () => {
  await using served = await serve({ scenario: scenarioOf([...oneOfEachMode, bob]) });
  const caveat = async (kind: string, mailbox: string) => (await strike(served, kind, mailbox)).body.caveat;
  for (const mode of ['slow', 'balanced', 'aggressive'] as const)
    expect(await caveat('breach', email(mode))).toBeNull();
  expect(await caveat('breach', email('recovery'))).toContain('is in recovery mode already');
  served.simulator.fleet.setMode(email('balanced'), 'recovery');
  await served.act(bob.email, 'pause');
  await served.act(bob.email, 'resume');
  const today = 'counts only emails from tomorrow on, and does nothing about this breach';
  expect(await caveat('breach', email('balanced'))).toContain(today);
  expect(await caveat('breach', bob.email)).toContain(today);
  expect(await caveat('emergency', bob.email)).toBeNull();
  await served.clock.advance(dayMs);
  expect(await caveat('breach', email('balanced'))).toContain('is in recovery mode already');
  expect(await caveat('breach', bob.email)).toBeNull();
});

test('a disconnection shows at once in list and detail, until it is repaired', async () => {
  await using served = await serve({ startAt: saturday });
  const shown = async () => {
    const detail = (await served.ask(`/v1/mailboxes/${served.idOf(bob.email)}`)).body;
    return [detail.status, detail.connection_error];
  };
  await strike(served, 'disconnect', bob.email);
  expect(await shown()).toEqual(['disconnected', 'IMAP login failed: invalid credentials']);
  await strike(served, 'repair', bob.email);
  expect(await shown()).toEqual(['active', null]);
});

test('what others change in the mailbox app is done at once, and a second time it says that it is so', async () => {
  await using served = await serve();
  const message = async (kind: string) => (await strike(served, kind, ann.email)).body.message;
  expect(await message('raise-mode')).toContain('was raised from balanced to aggressive');
  expect(await message('raise-mode')).toContain('is in aggressive mode already');
  expect(await message('raise-limit')).toContain('was set from 80 to 100 emails');
  expect(await message('pause')).toContain('was paused');
  expect(await message('pause')).toContain('was paused already');
  expect(await served.warmup(ann.email)).toMatchObject({
    status: 'paused',
    warmup_mode: 'aggressive',
    config: { target_daily_limit: 100 },
  });
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

test('a message to the inbox is handed on, and answered as a chat answers', async () => {
  const messages: string[] = [];
  await using served = await serve({ onMessage: (body) => messages.push(body) });
  const answer = await fetch(`${served.simulator.url}/admin/inbox`, { method: 'POST', body: '{"text":"hello"}' });
  expect([answer.status, await answer.text(), messages]).toEqual([200, 'ok', ['{"text":"hello"}']]);
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
