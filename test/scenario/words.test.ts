// The API's words: a mailbox status that nobody knows is announced once, the kinds of bounces grade what is announced, and recent
// emails in spam or stuck in the queue are shown, never announced.
import { expect, test } from 'vitest';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import type { Incident, MailboxSpec } from '../../tools/simulator/scenario.ts';
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
  const [notified] = stage.receiver.alerts().filter(({ rule }) => rule === 'mailbox_unwell');
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

test('a switch to recovery is critical when all recent bounces are hard, and a warning when some are soft', async () => {
  const specs = ['hard@acme.example', 'soft@other.example'].map(
    (email): MailboxSpec => ({ email, provider: 'google', mode: 'balanced', startedDaysAgo: 30 }),
  );
  const bounces = specs.map(
    ({ email }): Incident => ({ kind: 'bounce', mailbox: email, rate: 0.2, from: 0, until: 6 * hourMs }),
  );
  await using stage = await startMovedDaemon({
    scenario: { name: 'kinds', summary: 'Hard and soft bounces.', fleet: specs, incidents: bounces },
    poll,
    before: async (simulator) => {
      simulator.faults.add(edited({ 'recent_emails.0.bounce_type': 'soft' }, 'warmup', 'soft@other.example'));
    },
  });
  const acted = () => stage.receiver.alerts().filter(({ rule }) => rule === 'guard_acted');
  await stage.until('both to be acted on', () => new Set(acted().map(({ mailbox }) => mailbox)).size === 2, 8 * hourMs);
  const severities = Object.fromEntries(
    acted()
      .toReversed()
      .map(({ mailbox, severity }) => [mailbox, severity]),
  );
  expect(severities).toEqual({ 'hard@acme.example': 'critical', 'soft@other.example': 'warning' });
  expect(
    acted()
      .find(({ mailbox }) => mailbox === 'hard@acme.example')
      ?.sentences.join(' '),
  ).toContain('All recent bounces were hard or blocks, so this alert is critical.');
});

test('emails in spam and a queue that stands still are shown on the page and in explain, and nobody is notified', async () => {
  await using stage = await startMovedDaemon({ scenario: { ...scenarios.calm, fleet }, poll });
  await stage.run(2 * hourMs);
  const stuck = new Date(stage.clock.now() - 3 * hourMs).toISOString();
  const emails = [
    { id: 'm1', status: 'sent', landed_in: 'spam', sent_at: new Date(stage.clock.now() - 4 * hourMs).toISOString() },
    { id: 'm2', status: 'scheduled', landed_in: null, scheduled_at: stuck, sent_at: null },
  ];
  stage.simulator.faults.add(edited({ recent_emails: emails }, 'warmup'));
  await stage.run(2 * hourMs);
  const explained = await (await fetch(`${stage.url()}/api/explain?mailbox=${oliver}`)).json();
  const sentences = (explained as { mailbox: { recent_emails: string[] } }).mailbox.recent_emails;
  expect(sentences).toEqual([
    'Of the last 1 email whose folder is known, 1 landed in spam.',
    'Its queue does not move: an email was scheduled for 10 March 07:30 UTC, and none has been sent since.',
  ]);
  const page = await (await fetch(`${stage.url()}/mailboxes/agency/${stage.mailbox(oliver).id}`)).text();
  for (const sentence of sentences) expect(page).toContain(sentence);
  expect(stage.receiver.alerts()).toEqual([]);
});
