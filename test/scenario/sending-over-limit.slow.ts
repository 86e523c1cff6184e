// A mailbox that sends more than it may, on a whole daemon: told once, ended when a whole day keeps to the limit, and never
// for the day on which a limit fell.
import { expect, test } from 'vitest';
import { dayMs, hourMs } from '../../src/core/time.ts';
import type { MailboxSpec } from '../../tools/simulator/scenario.ts';
import { amelia, jonas, oliver, stormOf } from '../account/duty.ts';
import { startMovedDaemon, trouble } from './moved-daemon.ts';

const rarely = { health: '7 */6 * * *', mailbox: '20 15 * * *', dns: '25 19 * * *', blacklist: '35 15 * * *' };
const poll = { ...rarely, mailboxes: '3 */2 * * *', stats: '*/30 * * * *', warmup: '5 */2 * * *' };
const spec = (name: string): MailboxSpec => {
  return {
    email: `${name}@acme.example`,
    provider: 'google',
    mode: 'balanced',
    startedDaysAgo: 60,
    weekdaysOnly: false,
  };
};
const [raised, pushed, gentle] = [spec('raised'), spec('pushed'), spec('gentle')];

test('more than the mode allows, and more than the daily limit, is told with its counts and ends', async () => {
  await using stage = await startMovedDaemon({
    scenario: { name: 'much', summary: 'Too much.', fleet: [raised, pushed, gentle], incidents: [] },
    poll,
    before: ({ url }) => trouble(url, 'raise-limit', raised.email),
  });
  const notified = (email: string) =>
    stage.receiver.alerts().filter(({ rule, mailbox }) => rule === 'sending_over_limit' && mailbox === email);
  // The first day is not known from its beginning.
  await stage.run(15 * hourMs);
  expect(stage.receiver.alerts().filter(({ rule }) => rule === 'sending_over_limit')).toEqual([]);
  await stage.until('the second day', () => notified(raised.email).length === 1, dayMs);
  expect(notified(raised.email)[0]).toMatchObject({ severity: 'warning', status: 'firing' });
  expect(notified(raised.email)[0]?.sentences[0]).toMatch(
    /^It sent \d+ emails on 11 March\. That is more than the maximum of its mode, which is 40 a day\.$/,
  );
  stage.simulator.fleet.find(pushed.email)?.sendNow(41);
  await stage.until('the pushed one', () => notified(pushed.email).length === 1, hourMs);
  expect(notified(pushed.email)[0]?.sentences[0]).toMatch(/more than its daily limit of 40, and more than the maximum/);

  // As the message says.
  expect((await stage.command('limit', { mailbox: raised.email, limit: 40 })).result).toBe('done');
  const statuses = (email: string) => [...new Set(notified(email).map(({ status }) => status))];
  const over = () => [raised, pushed].every(({ email }) => statuses(email).includes('resolved'));
  await stage.until('the end of both', over, 4 * dayMs);
  expect([raised, pushed, gentle].map(({ email }) => statuses(email))).toEqual([
    ['firing', 'reminder', 'resolved'],
    ['firing', 'reminder', 'resolved'],
    [],
  ]);
  expect(stage.notified('changed_by_others')).toEqual([]);
});

test('a limit that falls at noon, by the guard or by a person, is no reason to tell', async () => {
  await using stage = await startMovedDaemon({ scenario: stormOf(amelia, jonas, oliver), poll });
  await stage.until('the switch', () => stage.mailbox(amelia).memory?.claim?.kind === 'recovery', 8 * hourMs);
  await stage.run(hourMs);
  expect((await stage.command('limit', { mailbox: oliver, limit: 2 })).result).toBe('done');
  await stage.run(1.5 * dayMs);
  expect(stage.mailbox(oliver).warmup?.answer.dailyLimit).toBe(2);
  expect(stage.notified('sending_over_limit')).toEqual([]);
});
