// A pause of the vendor's own, a weekend of silence and a year of troubles, on the moved clock: nothing is told or done that nothing calls for.
import { expect, test } from 'vitest';
import { dayMs, hourMs, minuteMs } from '../../src/core/time.ts';
import { scenarioStart, scenarios } from '../../tools/simulator/scenarios.ts';
import { startMovedDaemon } from './moved-daemon.ts';

const days = 364;
/** On New Year's day at night: these are asked for at the start of a process only. */
const never = '0 3 1 1 *';
const poll = {
  health: never,
  mailboxes: never,
  stats: never,
  warmup: never,
  mailbox: '31 15 * * *',
  dns: '31 15 * * *',
  blacklist: '31 15 * * *',
};

test('in a year each trouble is told once and ends, and only the bounces are acted upon', async () => {
  await using stage = await startMovedDaemon({ scenario: scenarios.year, poll });
  const notified = new Map<string, number>();
  let heard = 0;
  for (let day = 0; day < days; day += 1) {
    // Signatures are valid for five minutes of real time, so what came is verified day by day.
    await stage.awayUntil(scenarioStart + day * dayMs + 7 * hourMs);
    await stage.run(4 * minuteMs);
    const fresh = stage.receiver.notified.slice(heard).filter(({ to }) => to === 'hook');
    heard = stage.receiver.notified.length;
    for (const { rule, status } of fresh.flatMap((message) => stage.receiver.verified(message))) {
      notified.set(`${rule} ${status}`, (notified.get(`${rule} ${status}`) ?? 0) + 1);
    }
  }
  const { incidents } = scenarios.year;
  const of = (kind: string) => incidents.filter((incident) => incident.kind === kind);
  for (const [rule, kind] of [
    ['dns_failing', 'dns'],
    ['blacklisted', 'listing'],
    ['mailbox_unwell', 'disconnect'],
  ] as const) {
    const times = of(kind).length;
    expect([rule, notified.get(`${rule} firing`), notified.get(`${rule} resolved`)]).toEqual([rule, times, times]);
  }
  const burnt = of('bounce').map(({ mailbox }) => mailbox);
  const changed = [...new Set(stage.posts.map(({ email }) => email))];
  expect([changed.length > 0, changed.filter((email) => !burnt.includes(email))]).toEqual([true, []]);
  for (const rule of ['not_guarded', 'guard_action_failed', 'mailbox_missing', 'stale_data']) {
    expect([rule, notified.get(`${rule} firing`)]).toEqual([rule, undefined]);
  }
});
