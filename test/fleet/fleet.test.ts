// The picture of the fleet: what is put is read, what has ended is forgotten.
import { expect, test } from 'vitest';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import { sampleIncident } from '../alerts/incident-samples.ts';
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

test('the alerts about a mailbox are found by it, those about none among the wide ones', () => {
  const fleet = new Fleet();
  const [m1, m2] = [arrivedMailbox('m1'), arrivedMailbox('m2')];
  const dns = alertOf('m1', { status: 'pending' });
  const [stale, wide] = [
    alertOf('m1', { rule: 'stale_data', fingerprint: 'stale' }),
    alertOf('m1', { mailboxId: null, fingerprint: 'wide' }),
  ];
  for (const one of [dns, stale, wide]) fleet.putAlert(one);
  expect([fleet.alertsAbout(m1), fleet.alertsAbout(m2), [...fleet.wideAlerts()]]).toEqual([[dns, stale], [], [wide]]);
  const firing = { ...dns, status: 'firing' as const };
  fleet.putAlerts({ changed: [firing, { ...wide, status: 'resolved' }], dropped: ['stale'] });
  expect([fleet.alertsAbout(m1), [...fleet.wideAlerts()]]).toEqual([[firing], []]);
  fleet.clearAccount('acme');
  expect(fleet.alertsAbout(m1)).toEqual([]);
});

test('a mailbox is called by its address, and by its id too while another of its account has the same address', () => {
  const fleet = new Fleet();
  const box = (id: string, email: string, account = 'acme') => {
    const mailbox = arrivedMailbox(id, { account });
    return { ...mailbox, email };
  };
  const names = () => [...fleet.mailboxes()].map((mailbox) => fleet.nameOf(mailbox));
  fleet.putMailbox(box('m1', 'a@x.example'));
  fleet.putMailbox(box('m2', 'b@x.example'));
  fleet.putMailbox(box('m1', 'a@x.example', 'beta'));
  expect(names()).toEqual(['a@x.example', 'b@x.example', 'a@x.example']);
  // Its address changes to one that another has, then something else about it.
  for (const missingLists of [0, 1]) fleet.putMailbox({ ...box('m2', 'a@x.example'), missingLists });
  fleet.putMailbox(box('m5', 'b@x.example'));
  expect(names()).toEqual(['a@x.example (m1)', 'a@x.example (m2)', 'b@x.example', 'a@x.example']);
  fleet.removeMailbox('acme', 'm5');
  fleet.removeMailbox('acme', 'm1');
  fleet.removeMailbox('acme', 'm1');
  expect(names()).toEqual(['a@x.example', 'a@x.example']);
  fleet.putMailbox(box('m3', 'a (m2)'));
  expect(names()).toContain('a (m2) (m3)');
  fleet.clearAccount('acme');
  fleet.putMailbox(box('m4', 'a@x.example'));
  expect(names()).toEqual(['a@x.example', 'a@x.example']);
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

test('whoever shows the picture sees by its revision that an incident began', () => {
  const fleet = new Fleet();
  const before = fleet.revision;
  fleet.putIncident(sampleIncident(3));
  expect(fleet.revision).toBeGreaterThan(before);
});
