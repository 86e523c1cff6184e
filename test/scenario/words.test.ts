// The API's words: a mailbox status that nobody knows is announced once, the kinds of bounces grade what is announced, and recent
// emails in spam or stuck in the queue are shown, never announced.
import { expect, test } from 'vitest';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import { scenarios } from '../../tools/simulator/scenarios.ts';
import { startMovedDaemon } from './moved-daemon.ts';
import { poll } from './three-domains.ts';

const oliver = 'oliver.hart@northbeam.example';
const fleet = scenarios.calm.fleet.filter(({ email }) => email === oliver);
const edited = (set: Readonly<Record<string, unknown>>, route: 'mailbox' | 'mailboxes' | 'warmup', mailbox?: string) =>
  ({ fault: { do: 'edit', edit: { set } }, route, ...(mailbox && { mailbox }) }) as const;

test('a mailbox that is suspended is announced once, and once more when it is not', async () => {
  await using stage = await startMovedDaemon({
    scenario: { ...scenarios.calm, fleet },
    poll: { ...poll, mailboxes: '*/5 * * * *', mailbox: '0 */2 * * *' },
  });
  await stage.run(10 * minuteMs);
  stage.simulator.faults.add(edited({ 'mailboxes.*.status': 'suspended' }, 'mailboxes'));
  stage.simulator.faults.add(edited({ status: 'suspended' }, 'mailbox'));
  await stage.run(15 * minuteMs);
  expect(stage.notified('mailbox_unwell')).toEqual(['firing']);
  const [notified] = stage.told('mailbox_unwell');
  expect(notified).toMatchObject({ severity: 'warning', title: `${oliver}: unknown mailbox status "suspended"` });
  await stage.run(5 * hourMs);
  await stage.restart();
  await stage.run(hourMs);
  expect([
    stage.notified('mailbox_unwell', 'status'),
    stage.notified('mailbox_unwell', 'connection'),
    stage.posts,
  ]).toEqual([['firing'], [], []]);
  stage.simulator.faults.clear();
  await stage.run(15 * minuteMs);
  expect(stage.notified('mailbox_unwell')).toEqual(['firing', 'resolved']);
});
