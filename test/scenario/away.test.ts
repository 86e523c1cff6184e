// What begins and what ends while nobody is on duty, or under a silence, is told once each.
import { expect, it } from 'vitest';
import { hourMs } from '../../src/core/time.ts';
import type { Incident, MailboxSpec } from '../../tools/simulator/scenario.ts';
import { startMovedDaemon } from './moved-daemon.ts';

const poll = {
  health: '7 * * * *',
  mailboxes: '3 * * * *',
  stats: '*/15 * * * *',
  warmup: '*/30 * * * *',
  mailbox: '20 15 * * *',
  dns: '25 * * * *',
  blacklist: '35 15 * * *',
};
const mailbox = (email: string): MailboxSpec => ({ email, provider: 'google', mode: 'balanced', startedDaysAgo: 60 });
const fleet = ['a@early.example', 'b@late.example', 'c@calm.example'].map(mailbox);
const dns = (domain: string, from: number, until?: number): Incident => ({
  kind: 'dns',
  mailbox: `*@${domain}`,
  records: ['spf'],
  from,
  ...(until === undefined ? {} : { until }),
});
const scenario = (incidents: readonly Incident[]) => ({ name: 'away', summary: 'A domain breaks.', fleet, incidents });

it('tells once what began and once what ended while nobody was on duty', async () => {
  const incidents = [dns('early.example', 2 * hourMs, 8 * hourMs), dns('late.example', 8 * hourMs)];
  await using stage = await startMovedDaemon({ scenario: scenario(incidents), poll });
  const notified = () =>
    stage.receiver
      .alerts()
      .filter(({ rule, status }) => rule === 'dns_failing' && status !== 'reminder')
      .map(({ title, status }) => `${status} ${title.split(':')[0]}`);
  await stage.run(6 * hourMs);
  expect(notified()).toEqual(['firing early.example']);
  await stage.awayUntil(stage.clock.now() + 4 * hourMs);
  await stage.run(2 * hourMs);
  expect(notified().sort()).toEqual(['firing early.example', 'firing late.example', 'resolved early.example']);
  await stage.restart();
  await stage.run(2 * hourMs);
  expect(notified()).toHaveLength(3);
});
