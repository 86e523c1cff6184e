// What people know after a look in which several things were said of one mailbox.
import { mkdtempDisposableSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { pauseAnnouncement, pauseEnd } from '../../src/alerts/routing.ts';
import type { Transition } from '../../src/core/alert.ts';
import { notificationLogAfter } from '../../src/outbox/delivery-of.ts';
import { Store } from '../../src/store/store.ts';
import { start } from '../alerts/samples.ts';
import { pauseOf } from '../channels/people.ts';

const to = ['pager'];
const gone = { now: start, mailbox: () => undefined, silenced: () => false };
const pauseOn = (mailboxId: string): Transition => {
  const pause = pauseOf('confirmed');
  return { ...pause, alert: { ...pause.alert, mailboxId } };
};

/** A look in which these pauses end, and the last of their mailboxes is paused again. */
async function lookAt(mailboxes: readonly string[]) {
  const known = mailboxes.map((id) => pauseAnnouncement(pauseOn(id), { channels: to, at: start }));
  const ends = known.map((one) => pauseEnd(one, gone)).filter((end) => end !== null);
  const groups = [
    { group: 'one', news: [{ transition: pauseOn(mailboxes.at(-1) ?? ''), to }], inIncident: false },
    { group: 'two', news: ends.map((transition) => ({ transition, to })), inIncident: false },
  ];
  const before = new Map(known.map((one) => [one.fingerprint, one]));
  const changes = notificationLogAfter(
    { groups, early: [], late: [], incidents: [] },
    { before, now: start + 1, followers: to },
  );
  const again = known.slice(-1).map((one) => ({ ...one, at: start + 1 }));
  return { known, ended: ends.length, changes, again };
}

test('a pause that begins in the look in which the last one ends is known, so that its page ends, too', async () => {
  const { changes, again } = await lookAt(['m1']);
  // In one list only, so that it does not matter which is read first.
  expect(changes).toMatchObject({ announced: again, ended: [] });
});

test('the next process knows it, too, however many pauses end in that look', async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'warmwarden-log-'));
  const store = await Store.open(join(folder.path, 'warmwarden.db'), start);
  const { known, ended, changes, again } = await lookAt(Array.from({ length: 600 }, (_, number) => `m${number}`));
  expect(ended).toBe(600);
  const record = { transitionIds: [], deliveries: [], now: start + 1 };
  const announced = { announced: known, ended: [], groups: [] };
  await store.outbox.recordDeliveries({ ...record, notificationLog: announced });
  await store.outbox.recordDeliveries({ ...record, notificationLog: changes });
  expect((await store.outbox.loadNotificationLog()).announcements).toEqual(again);
  await store.close();
});
