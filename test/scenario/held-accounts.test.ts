// guard_held beyond one account: it belongs to the API, so that accounts may be reordered, removed and moved while actions are held.
import { expect, test } from 'vitest';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import { type MovedDaemon, startMovedDaemon, type WrittenConfig } from './moved-daemon.ts';
import { poll, settled } from './three-domains.ts';

const fleet = Array.from({ length: 12 }, (_, number) => settled(number));
const second = fleet.slice(6).map(({ email }) => email);
const scenario = {
  name: 'jump',
  summary: 'Twelve mailboxes of three domains bounce at once.',
  fleet,
  incidents: [{ kind: 'bounce', mailbox: '*', rate: 0.75, from: 1.5 * hourMs, until: 2.5 * hourMs }],
} as const;
const expectErrors = ['the API does not answer (GET /v1/mailboxes: http://127.0.0.1:9'];

const held = (stage: MovedDaemon) => stage.breaker().entries.filter((entry) => entry.held);
const accountsHeld = (stage: MovedDaemon) => [...new Set(held(stage).map(({ account }) => account))].sort();
const without = (name: string) => (config: WrittenConfig) => {
  config.accounts = config.accounts.filter((account) => account['name'] !== name);
};
const elsewhere = (config: WrittenConfig) => {
  for (const account of config.accounts) if (account['name'] === 'second') account['base_url'] = 'http://127.0.0.1:9';
};
/** That it holds more by and by is told, too. */
const told = (stage: MovedDaemon) => stage.notified('guard_held').filter((kind) => kind !== 'worsened');

/** Two accounts of one API, both with mailboxes that are held, and people know. */
async function holding(file: object = {}): Promise<MovedDaemon> {
  const stage = await startMovedDaemon({ scenario, poll, second, file, expectErrors });
  await stage.until('a hold on both accounts', () => accountsHeld(stage).length === 2, 4 * hourMs);
  return stage;
}

test('some go after an hour; the accounts in another order are no reason to tell it again, and its end is told once', async () => {
  await using stage = await holding();
  await stage.run(2 * minuteMs);
  await stage.reload((config) => config.accounts.reverse());
  await stage.run(20 * minuteMs);
  expect([told(stage), stage.alerts('guard_held').length]).toEqual([['firing'], 1]);
  const first = stage.posts.length;
  await stage.run(75 * minuteMs);
  expect([stage.posts.length > first, held(stage).length > 0]).toEqual([true, true]);
  expect(stage.notified('bounce_over_limit')).toEqual([]);
  await stage.command('breaker-apply', {});
  await stage.run(2 * minuteMs);
  expect([told(stage), stage.alerts('guard_held')]).toEqual([['firing', 'resolved'], []]);
});

test.each([
  { what: 'removing agency at a restart', leaves: 'second', change: without('agency'), restarts: true },
  { what: 'moving second to another API', leaves: 'agency', change: elsewhere },
])('$what withdraws what was held of it; what is held of $leaves stays, and so does the alert', async (row) => {
  await using stage = await holding();
  await stage.run(20 * minuteMs);
  if (row.restarts) await stage.restart(row.change);
  else await stage.reload(row.change, { force: true });
  const { leaves } = row;
  expect([accountsHeld(stage), stage.alerts('guard_held').map(({ facts }) => facts.accounts)]).toEqual([
    [leaves],
    [[leaves]],
  ]);
  await stage.run(10 * minuteMs);
  expect(told(stage)).toEqual(['firing']);
});
