// A weekend of silence and a year of troubles, on the moved clock: nothing is told or done that nothing calls for.
import { expect, test } from 'vitest';
import { dayMs, hourMs } from '../../src/model/time.ts';
import { scenarios } from '../../src/simulator/scenarios.ts';
import { startMovedDaemon } from './moved-daemon.ts';

const days = 364;
/** Four looks a day, at the hours in which mails are sent. */
const poll = {
  health: '0 12 * * *',
  mailboxes: '0 9,14 * * *',
  stats: '10 9,11,14,16 * * *',
  warmup: '20 9,14 * * *',
  mailbox: '30 9,15 * * *',
  dns: '40 9,15 * * *',
  blacklist: '50 9,15 * * *',
};

test('a quiet weekend is no stale data and no reason for anything', async () => {
  const often = { ...poll, mailboxes: '*/30 * * * *', stats: '*/30 * * * *', warmup: '0 * * * *' };
  await using stage = await startMovedDaemon({ scenario: scenarios['quiet-weekend'], poll: often });
  await stage.run(6 * dayMs + 4 * hourMs);
  expect([stage.receiver.alerts().map(({ rule }) => rule), stage.posts]).toEqual([[], []]);
});

test('in a year each trouble is told once and ends, and only the bounces are acted upon', async () => {
  await using stage = await startMovedDaemon({ scenario: scenarios.year, poll });
  for (let day = 0; day < days; day += 7) await stage.run(7 * dayMs);
  const told = (rule: string) => stage.told(rule).filter((status) => status !== 'reminder');
  const { incidents } = scenarios.year;
  const of = (kind: string) => incidents.filter((incident) => incident.kind === kind);
  for (const [rule, kind] of [
    ['dns_failing', 'dns'],
    ['blacklisted', 'listing'],
    ['mailbox_disconnected', 'disconnect'],
  ] as const) {
    expect([rule, told(rule).sort()]).toEqual([
      rule,
      [...of(kind).map(() => 'firing'), ...of(kind).map(() => 'resolved')],
    ]);
  }
  const burnt = of('bounce').map(({ mailbox }) => mailbox);
  expect([...new Set(stage.posts.map(({ email }) => email))].filter((email) => !burnt.includes(email))).toEqual([]);
  expect(stage.posts.length).toBeGreaterThan(0);
  for (const rule of ['api_down', 'guard_action_failed', 'mailbox_missing', 'mailbox_list_short', 'stale_data']) {
    expect([rule, told(rule)]).toEqual([rule, []]);
  }
});
