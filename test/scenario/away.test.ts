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

it('tells a pause in a domain whose DNS fails, and the end of what was told before a silence', async () => {
  const burst: Incident = { kind: 'bounce', mailbox: 'a@*', rate: 1, from: 3 * hourMs };
  const incidents = [dns('early.example', hourMs, 6 * hourMs), burst];
  await using stage = await startMovedDaemon({ scenario: scenario(incidents), poll });
  await stage.run(2.5 * hourMs);
  expect(stage.notified('dns_failing')).toEqual(['firing']);
  const match = { rule: ['dns_failing'], domain: ['early.example'] };
  expect((await stage.command('silence-add', { match, for_seconds: 48 * 3_600 })).result).toBe('done');
  await stage.run(30 * hourMs);
  expect(stage.posts.at(-1)).toMatchObject({ email: 'a@early.example', change: 'pause' });
  const paused = stage.receiver
    .alerts()
    .filter(({ rule, numbers }) => rule === 'guard_acted' && numbers['action'] === 'pause');
  expect(paused).toMatchObject([{ status: 'event', severity: 'critical', mailbox: 'a@early.example' }]);
  // No reminder in the silence, but the end.
  expect(stage.notified('dns_failing')).toEqual(['firing', 'resolved']);
});
