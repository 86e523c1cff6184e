// What people know after a look in which several things were said of one mailbox.
import { expect, test } from 'vitest';
import { pauseAnnouncement, pauseEnd } from '../../src/alert/pauses.ts';
import { notificationLogAfter } from '../../src/notify/notification-log.ts';
import { start } from '../alert/samples.ts';
import { pauseOf } from '../channels/people.ts';

const pause = pauseOf('confirmed');
const known = pauseAnnouncement(pause, { channels: ['pager'], at: start });
const gone = { now: start, mailbox: () => undefined, silenced: () => false };

test('a pause that begins in the look in which the last one ends is known, so that its page ends, too', async () => {
  const end = pauseEnd(known, gone);
  if (!end) throw new Error('the mailbox has left');
  const to = ['pager'];
  const groups = [
    { group: 'one', news: [{ transition: pause, to }], inIncident: false },
    { group: 'two', news: [{ transition: end, to }], inIncident: false },
  ];
  const after = await notificationLogAfter(
    { groups, late: [], incidents: [] },
    { before: new Map([[known.fingerprint, known]]), now: start + 1, followers: to, pause: async () => {} },
  );
  expect(after.ended).toContain(known.fingerprint);
  expect(after.announced).toContainEqual({ ...known, at: start + 1 });
});
