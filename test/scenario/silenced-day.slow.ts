// Over a day: a silence and a domain's DNS hide no more than they may.
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
const scenario = (incidents: readonly Incident[]) => ({ name: 'away', summary: 'Nobody is there.', fleet, incidents });

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
