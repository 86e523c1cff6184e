// How mailboxes live: ramps, windows, weekdays, chance, and what a person changes on them.
import { expect, test } from 'vitest';
import { fleetOf } from '../../tools/simulator/agency-fleet.ts';
import { rampDayFor, rampLimit, type WarmupMode } from '../../tools/simulator/ramp.ts';
import type { MailboxSpec } from '../../tools/simulator/scenario.ts';
import { scenarioStart } from '../../tools/simulator/scenarios.ts';
import { ann, bob, dayMs, hourMs, type Json, scenarioOf, serve } from './served.ts';

const email = 'ann@one.example';
const fresh: MailboxSpec = { ...ann, startedDaysAgo: 0, weekdaysOnly: false };

function mailbox(change: Partial<MailboxSpec>) {
  return { scenario: scenarioOf([{ ...ann, ...change }]) };
}

const sentOf = (rows: Json[]) => rows.map((row) => row.sent);

test.each<[WarmupMode, number, number, number]>([
  ['slow', 2, 11, 20],
  ['balanced', 5, 22, 40],
  ['aggressive', 10, 45, 80],
  ['recovery', 1, 8, 15],
])(
  'the %s ramp goes from %i over %i to %i emails a day in 28 days, and stays there',
  async (mode, start, half, max) => {
    await using served = await serve({ scenario: scenarioOf([{ ...fresh, mode }]) });
    await served.clock.advance(40 * dayMs);
    const sent = sentOf(await served.stats(email));
    expect([sent[0], sent[14], sent[28], sent[39]]).toEqual([start, half, max, max]);
    expect(sent.slice(0, 40)).toEqual([...sent.slice(0, 40)].sort((left, right) => left - right));
    expect((await served.warmup(email)).daily_limit).toBe(max);
  },
);

test('emails leave one by one inside the send window, and only there', async () => {
  await using served = await serve(mailbox({ sendWindow: [10, 14] }));
  const counts = [];
  for (let hour = 9; hour <= 16; hour += 1) {
    await served.clock.advance(scenarioStart + (hour - 8.5) * hourMs - served.clock.now());
    counts.push((await served.today(email)).sent);
  }
  expect(counts).toEqual([0, 0, 10, 20, 30, 40, 40, 40]);
  for (const mail of (await served.warmup(email)).recent_emails) expect(mail.sent_at.slice(11, 13)).toBe('13');
});

test('a mailbox on weekdays only rests on Saturday and Sunday, while its ramp goes on', async () => {
  await using served = await serve(mailbox({ startedDaysAgo: 14 }));
  await served.clock.advance(6 * dayMs);
  const rows = await served.stats(email, 7);
  expect(rows.map((row) => [row.date.slice(8), row.sent])).toEqual([
    ['10', 22],
    ['11', 23],
    ['12', 25],
    ['13', 26],
    ['14', 0],
    ['15', 0],
    ['16', 0],
  ]);
  expect(await served.warmup(email)).toMatchObject({ daily_limit: 30, warmup_day: 21 });
});

test('a paused mailbox sends nothing from that moment on, and the rest of its share after a resume', async () => {
  await using served = await serve();
  await served.clock.advance(2.5 * hourMs);
  const before = (await served.today(email)).sent;
  expect(before).toBe(10);
  const { status, body } = await served.act(email, 'pause');
  expect(status).toBe(200);
  expect(body).toMatchObject({ success: true, message: expect.any(String), config: { warmup_mode: 'balanced' } });
  expect(await served.warmup(email)).toMatchObject({ status: 'paused', warmup_day: 41 });
  await served.clock.advance(2 * hourMs);
  expect((await served.today(email)).sent).toBe(before);
  await served.act(email, 'resume');
  expect(await served.warmup(email)).toMatchObject({ status: 'active' });
  await served.clock.advance(10 * hourMs);
  expect((await served.today(email)).sent).toBe(before + 20);
});

test('no two emails share an id, however often the day is planned', async () => {
  await using served = await serve();
  for (let step = 0; step < 6; step += 1) {
    await served.clock.advance(hourMs);
    await served.act(email, 'pause');
    await served.act(email, 'resume');
    const { recent_emails } = await served.warmup(email);
    expect(new Set(recent_emails.map((mail: Json) => mail.id)).size).toBe(10);
  }
});

test('days on which the warm-up is paused move neither the ramp nor the warm-up day', async () => {
  await using served = await serve(mailbox({ startedDaysAgo: 14, weekdaysOnly: false }));
  const before = await served.warmup(email);
  await served.act(email, 'pause');
  await served.act(email, 'pause');
  await served.clock.advance(5 * dayMs);
  const after = await served.warmup(email);
  expect([after.daily_limit, after.warmup_day]).toEqual([before.daily_limit, before.warmup_day]);
  expect(sentOf(await served.stats(email, 6))).toEqual([0, 0, 0, 0, 0, 0]);
});

test('recovery lowers the daily limit to one at once, stops the day, and climbs to fifteen', async () => {
  await using served = await serve(mailbox({ mode: 'aggressive', weekdaysOnly: false }));
  await served.clock.advance(2.5 * hourMs);
  const { body } = await served.act(email, 'update_config', { warmup_mode: 'recovery' });
  expect(body.config).toMatchObject({ warmup_mode: 'recovery', target_daily_limit: 15 });
  expect(await served.warmup(email)).toMatchObject({ warmup_mode: 'recovery', daily_limit: 1 });
  await served.clock.advance(32 * dayMs);
  const sent = sentOf(await served.stats(email, 33));
  expect([sent[0], sent[1], sent[2], sent[28]]).toEqual([20, 1, 2, 15]);
  expect(Math.max(...sent.slice(1))).toBe(15);
});

test('back from recovery a mailbox starts again at its mode and never leaps', async () => {
  await using served = await serve(mailbox({ mode: 'aggressive', weekdaysOnly: false }));
  await served.act(email, 'update_config', { warmup_mode: 'recovery' });
  await served.clock.advance(7 * dayMs);
  await served.act(email, 'update_config', { warmup_mode: 'aggressive' });
  expect(await served.warmup(email)).toMatchObject({ daily_limit: 10, config: { target_daily_limit: 80 } });
  expect(rampLimit('aggressive', rampDayFor('aggressive', 33))).toBeLessThanOrEqual(33);
  expect(rampLimit('slow', rampDayFor('slow', 80))).toBe(20);
});

test('a target above the maximum of the mode is kept as set and shown so, until the mode changes', async () => {
  await using served = await serve({ scenario: scenarioOf([{ ...ann, startedDaysAgo: 60, weekdaysOnly: false }]) });
  const shown = async () => {
    const { daily_limit: daily, config } = await served.warmup(ann.email);
    return [daily, config.target_daily_limit];
  };
  const { body } = await served.act(ann.email, 'update_config', { target_daily_limit: 60 });
  expect([body.config.target_daily_limit, await shown()]).toEqual([60, [60, 60]]);
  await served.clock.advance(dayMs);
  await served.clock.advance(9 * hourMs);
  expect(await served.today(ann.email)).toMatchObject({ sent: 60 });
  await served.act(ann.email, 'update_config', { warmup_mode: 'slow' });
  expect(await shown()).toEqual([20, 20]);
  await served.act(ann.email, 'update_config', { warmup_mode: 'balanced', target_daily_limit: 50 });
  expect((await shown())[1]).toBe(50);
});

test('a target caps the day, survives a change of mode, and a new window moves the emails', async () => {
  await using served = await serve(mailbox({ weekdaysOnly: false }));
  const config = { target_daily_limit: 12, send_window_start: 18, send_window_end: 20, reply_rate: 0 };
  const { body } = await served.act(email, 'update_config', config);
  expect(body.config).toMatchObject(config);
  await served.clock.advance(9 * hourMs);
  expect((await served.today(email)).sent).toBe(0);
  await served.clock.advance(3 * hourMs);
  expect(await served.today(email)).toMatchObject({ sent: 12, replied: 0, reply_rate: '0.00' });
  await served.act(email, 'update_config', { warmup_mode: 'aggressive' });
  expect(await served.warmup(email)).toMatchObject({ daily_limit: 12, config: { target_daily_limit: 12 } });
});

test('a new reply rate does not move the emails of the day', async () => {
  await using left = await serve();
  await using right = await serve();
  await left.clock.advance(4 * hourMs);
  await right.clock.advance(4 * hourMs);
  await right.act(email, 'update_config', { reply_rate: 90 });
  await left.clock.advance(8 * hourMs);
  await right.clock.advance(8 * hourMs);
  const times = async (served: typeof left) => (await served.warmup(email)).recent_emails.map((m: Json) => m.sent_at);
  expect(await times(right)).toEqual(await times(left));
  expect((await right.today(email)).replied).toBeGreaterThan((await left.today(email)).replied);
});

test("a person's change in the service's own pages shows in the answers", async () => {
  await using served = await serve();
  const { fleet } = served.simulator;
  fleet.pause(email);
  expect((await served.warmup(email)).status).toBe('paused');
  fleet.resume(email);
  fleet.setMode(email, 'slow');
  expect(await served.warmup(email)).toMatchObject({ status: 'active', warmup_mode: 'slow', daily_limit: 20 });
  fleet.remove('bob@two.example');
  expect((await served.ask('/v1/mailboxes')).body.mailboxes).toHaveLength(1);
  fleet.add({ ...bob, email: 'eve@two.example' });
  expect((await served.stats('eve@two.example')).length).toBe(15);
  fleet.remove('eve@two.example');
  expect(fleet.add({ ...bob, email: 'eve@two.example' }).email).toBe('eve@two.example');
  expect(() => fleet.pause('bob@two.example')).toThrow('the fleet has no bob@two.example');
  expect(() => fleet.add(ann)).toThrow('already has ann@one.example');
});

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

test("today's counts only grow, and add up: opened within inboxed, answered within opened", async () => {
  await using served = await serve(mailbox({ mode: 'aggressive' }));
  let last = await served.today(email);
  for (let step = 0; step < 20; step += 1) {
    await served.clock.advance(0.5 * hourMs);
    const row = await served.today(email);
    for (const count of ['sent', 'delivered', 'opened', 'replied', 'bounced', 'spam_landed']) {
      expect(row[count]).toBeGreaterThanOrEqual(last[count]);
    }
    expect(row.delivered + row.bounced).toBe(row.sent);
    expect(row.replied).toBeLessThanOrEqual(row.opened);
    expect(row.opened).toBeLessThanOrEqual(row.delivered - row.spam_landed);
    last = row;
  }
  expect(last).toMatchObject({ sent: 80 });
  expect(last.replied).toBeGreaterThan(10);
});

test('a fleet of a thousand answers thirty days each without effort', async () => {
  await using served = await serve({ scenario: scenarioOf(fleetOf(1_000)) });
  const { body } = await served.ask('/v1/mailboxes');
  expect(body.mailboxes).toHaveLength(1_000);
  expect(new Set(body.mailboxes.map((one: Json) => one.email)).size).toBe(1_000);
  for (const { id } of body.mailboxes.slice(0, 300)) {
    expect((await served.ask(`/v1/stats?mailbox_id=${id}&days=30`)).status).toBe(200);
  }
});
