// How mailboxes live: ramps, windows, weekdays, chance, incidents, and what a person changes on them.
import { expect, test } from 'vitest';
import type { WarmupMode } from '../../tools/simulator/ramp.ts';
import type { Incident, MailboxSpec } from '../../tools/simulator/scenario.ts';
import { ann, bob, dayMs, hourMs, type Json, scenarioOf, serve } from './served.ts';

const email = 'ann@one.example';
const fresh: MailboxSpec = { ...ann, startedDaysAgo: 0, weekdaysOnly: false };

const sentOf = (rows: Json[]) => rows.map((row) => row.sent);

test.each<[WarmupMode, number, number, number]>([
  ['slow', 2, 11, 20],
  ['balanced', 5, 22, 40],
  ['aggressive', 10, 45, 80],
  ['recovery', 1, 8, 15],
])('the %s ramp goes from %i over %i to %i emails a day in 28 days, and stays', async (mode, start, half, max) => {
  await using served = await serve({ scenario: scenarioOf([{ ...fresh, mode }]) });
  await served.clock.advance(40 * dayMs);
  const sent = sentOf(await served.stats(email));
  expect([sent[0], sent[14], sent[28], sent[39]]).toEqual([start, half, max, max]);
  expect(sent.slice(0, 40)).toEqual([...sent.slice(0, 40)].sort((left, right) => left - right));
  expect((await served.warmup(email)).daily_limit).toBe(max);
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

function withIncidents(...incidents: Incident[]) {
  return { scenario: scenarioOf([ann, bob], incidents) };
}

const total = (rows: Json[], count: string) => rows.reduce((sum, row) => sum + row[count], 0);

test('a bounce incident bounces its share of the emails that it meets, no others', async () => {
  const incident = {
    kind: 'bounce',
    mailbox: '*@one.example',
    rate: 0.5,
    from: 2.5 * hourMs,
    until: 4.5 * hourMs,
  } as const;
  await using served = await serve(withIncidents(incident));
  await served.clock.advance(2.5 * hourMs);
  expect((await served.today(email)).bounced).toBe(0);
  await served.clock.advance(3 * dayMs);
  // Ten emails fall into the two hours; late bounces have arrived two days later.
  expect(total(await served.stats(email, 4), 'bounced')).toBe(5);
  expect(total(await served.stats('bob@two.example', 4), 'bounced')).toBe(0);
});
