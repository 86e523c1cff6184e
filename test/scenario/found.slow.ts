// The first minutes of a daemon on a fleet that nobody remembers: what is found is one message, later findings go their way.
import { expect, it } from 'vitest';
import { dayMs, hourMs, minuteMs } from '../../src/core/time.ts';
import type { Incident, MailboxSpec } from '../../tools/simulator/scenario.ts';
import type { ReceivedMessage } from '../support/receiver.ts';
import { type MovedDaemon, startMovedDaemon } from './moved-daemon.ts';
import { poll, settled } from './three-domains.ts';

const badDay = (mailbox: string): Incident => ({
  kind: 'bounce',
  mailbox,
  rate: 0.2,
  from: -5 * dayMs,
  until: -4 * dayMs,
});
const over = Array.from({ length: 6 }, (_, number) => settled(number));
const recovering = Array.from({ length: 4 }, (_, number) => settled(number + 6, 'recovery'));
const calm = Array.from({ length: 50 }, (_, number) => settled(number + 10));
const emails = (specs: readonly MailboxSpec[]) => specs.map(({ email }) => email).sort();

interface Message {
  readonly type: string;
  readonly data: {
    readonly rule: string | null;
    readonly total: number;
    readonly alerts: readonly { readonly rule: string; readonly status: string; readonly mailbox: string | null }[];
  };
}

const bodyOf = ({ text }: ReceivedMessage): Message => JSON.parse(text);
const messages = (stage: MovedDaemon) => stage.receiver.notified.filter(({ to }) => to === 'hook').map(bodyOf);

it('on a fleet where a tenth is over the limit: nobody in recovery is paused, the hold is told at once, and one message says what was found', async () => {
  const fleet = [...over, ...recovering, ...calm];
  const incidents: Incident[] = [
    ...[...over, ...recovering].map(({ email }) => badDay(email)),
    { kind: 'dns', mailbox: '*@cedarlane.example', records: ['dkim'], from: -dayMs },
  ];
  await using stage = await startMovedDaemon({
    scenario: { name: 'found', summary: 'A fleet in trouble.', fleet, incidents },
    poll: { ...poll, mailboxes: '*/20 * * * *' },
  });
  await stage.run(2 * hourMs);
  // What the breaker holds does not wait for the sweep; all else is one message.
  expect(
    messages(stage)
      .map(({ type, data }) => `${type} ${data.rule}`)
      .sort(),
  ).toEqual(['alerts.firing guard_held', 'alerts.found null']);
  const found = messages(stage).find(({ type }) => type === 'alerts.found');
  const byRule = (rule: string) => found?.data.alerts.filter((alert) => alert.rule === rule) ?? [];
  const acted = byRule('guard_acted').map(({ mailbox }) => mailbox);
  expect(acted.sort()).toEqual(stage.posts.map(({ email }) => email).sort());
  // Found in recovery mode with a breach: nothing is done, but it is in the message.
  const foundOver = byRule('bounce_over_limit').map(({ mailbox }) => mailbox);
  expect(foundOver.sort()).toEqual(emails(recovering));
  expect(byRule('guard_held')).toEqual([]);
  expect(byRule('dns_failing')).toHaveLength(1);
  expect(found?.data.total).toBe(found?.data.alerts.length);
  for (const { email, change } of stage.posts) {
    expect(emails(over)).toContain(email);
    expect(change).toBe('recovery');
  }

  // What comes later goes its normal way, also for another process that remembers the fleet.
  await stage.restart();
  stage.simulator.fleet.remove('m20@cedarlane.example');
  await stage.run(hourMs + minuteMs);
  const later = messages(stage).slice(2);
  expect(later.filter(({ type }) => type === 'alerts.found')).toEqual([]);
  expect(later.filter(({ data }) => data.rule === 'mailbox_missing')).toHaveLength(1);
});
