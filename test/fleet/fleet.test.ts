// The picture of the fleet: what is put is read, what has ended is forgotten.
import { expect, test } from 'vitest';
import { Fleet } from '../../src/fleet/fleet.ts';
import { actionOf, alertOf, arrivedMailbox, now } from '../store/records.ts';

test('a mailbox is found by account and id, replaced by putting it again, and gone when removed', () => {
  const fleet = new Fleet();
  fleet.putMailbox(arrivedMailbox('m1'));
  fleet.putMailbox(arrivedMailbox('m1', { account: 'beta' }));
  fleet.putMailbox(arrivedMailbox('m1', { missingLists: 1 }));
  expect([fleet.mailboxCount(), fleet.mailbox('acme', 'm1')?.missingLists]).toEqual([2, 1]);
  fleet.removeMailbox('acme', 'm1');
  expect([...fleet.mailboxes()].map(({ account }) => account)).toEqual(['beta']);
});

test('an alert is kept while it is pending or firing', () => {
  const fleet = new Fleet();
  const alert = alertOf('m1', { status: 'pending' });
  fleet.putAlert(alert);
  expect(fleet.alert(alert.fingerprint)).toBe(alert);
  fleet.putAlert({ ...alert, status: 'resolved' });
  expect([...fleet.alerts()]).toEqual([]);
  fleet.putAlert(alert);
  fleet.removeAlert(alert.fingerprint);
  expect(fleet.alert(alert.fingerprint)).toBeUndefined();
});

test('a silence is forgotten once it has expired', () => {
  const fleet = new Fleet();
  const silence = { id: 's1', match: {}, by: 'ann', reason: 'moving', from: now, until: now + 5 };
  fleet.putSilence(silence);
  expect([fleet.silences(now - 1), fleet.silences(now + 4), fleet.silences(now + 5)]).toEqual([[], [silence], []]);
  // However the clock is set afterwards: nothing of it is left.
  expect(fleet.silences(now + 4)).toEqual([]);
});

test('the newest hundred actions are kept, each once, the newest first', () => {
  const fleet = new Fleet();
  for (let count = 0; count < 120; count += 1)
    fleet.putAction(actionOf('m1', { id: `a${count}`, plannedAt: now + count }));
  fleet.putAction(actionOf('m1', { id: 'a50', plannedAt: now + 50, state: 'confirmed' }));
  const kept = fleet.recentActions();
  expect([kept.length, kept[0]?.id, kept.at(-1)?.id]).toEqual([100, 'a119', 'a20']);
  expect(kept.filter(({ id }) => id === 'a50').map(({ state }) => state)).toEqual(['confirmed']);
});
