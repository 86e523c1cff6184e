// A lost connection that mailbox lists show: the second list that shows it makes its alert fire.
import { expect, test } from 'vitest';
import type { MailboxEntry } from '../../src/core/answers.ts';
import { minuteMs } from '../../src/core/time.ts';
import { arrivedMailbox, now } from '../store/records.ts';
import { recording } from './recording.ts';

const ids = ['m0', 'm1'];

/** Lists about both mailboxes; of the first one with that status. */
async function listing() {
  const stage = await recording(ids);
  const entryOf = (id: string) => arrivedMailbox(id).entry.answer;
  const list = (at: number, status: string, others: Partial<MailboxEntry> = {}, truncated = false) => {
    const mailboxes = [
      { ...entryOf('m0'), status },
      { ...entryOf('m1'), ...others },
    ];
    return stage.recorder.listed({ at, answer: { mailboxes: truncated ? mailboxes.slice(1) : mailboxes, truncated } });
  };
  const alerts = () => [...stage.fleet.alerts()].map(({ mailboxId, rule, status }) => [mailboxId, rule, status]);
  return { stage, list, alerts, [Symbol.asyncDispose]: () => stage[Symbol.asyncDispose]() };
}

const disconnected = (status: string) => ['m0', 'mailbox_unwell', status];

test('it fires with the second list, without a poll of the mailbox', async () => {
  await using it = await listing();
  await it.list(now, 'disconnected');
  expect(it.alerts()).toEqual([disconnected('pending')]);
  await it.list(now + minuteMs, 'disconnected');
  expect(it.alerts()).toEqual([disconnected('firing')]);
  const [fired] = it.stage.fleet.alerts();
  expect(fired?.facts.numbers['data_age_seconds']).toBe(0);
  const notified = (await it.stage.store.outbox.unnotifiedTransitions(10)).map(({ transition }) => transition.kind);
  expect(notified).toEqual(['firing']);
  // And it is seen once, however often lists repeat it.
  await it.list(now + 2 * minuteMs, 'disconnected');
  expect(await it.stage.store.outbox.unnotifiedTransitions(10)).toHaveLength(1);
});

type Second = readonly [status: string, others?: Partial<MailboxEntry>, truncated?: boolean];
const waits = expect.arrayContaining([disconnected('pending')]);

test.each<[string, Second, unknown[]]>([
  ['has other news, too: it fires', ['disconnected', { healthScore: 97 }], [disconnected('firing')]],
  ['is cut off before the mailbox: it waits', ['disconnected', {}, true], waits],
  ['shows the connection again: it was never an alert', ['active'], []],
])('when the second list %s', async (_, second, alerts) => {
  await using it = await listing();
  await it.list(now, 'disconnected');
  await it.list(now + minuteMs, ...second);
  expect(it.alerts()).toEqual(alerts);
});
