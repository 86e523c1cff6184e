// The alerts that tell of an account: its key, its list, and who else uses it. docs/faults.md H12, H13, H22, S8, T8.
import { expect, test } from 'vitest';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import { agencyFleet } from '../../tools/simulator/agency-fleet.ts';
import { amelia, type Duty, goOnDuty, jonas, oliver, stormOf } from '../account/duty.ts';
import { rarely } from '../support/watching.ts';

const calm = { name: 'calm', summary: 'Nothing.', fleet: agencyFleet.slice(2, 7), incidents: [] };
/** Five calm mailboxes, known for ten minutes. */
async function calmDuty(): Promise<Duty> {
  const duty = await goOnDuty({ scenario: calm });
  await duty.run(10 * minuteMs);
  return duty;
}

test.each([
  [401, 'H22: 401 in the middle of a sweep stops the account, fires one alert, and ends when the key is accepted'],
  [403, 'T8: 403 with JSON on everything counts as a refused key, too'],
])('%i, %s', async (status) => {
  await using duty = await goOnDuty({ scenario: stormOf(amelia, jonas, oliver) });
  await duty.run(10 * minuteMs);
  const verdict = duty.mailbox()?.verdict;
  duty.between.meddle = ({ path }) =>
    path === '/v1/health' ? 'pass' : { status, body: { error: 'not with this key' } };
  await duty.run(4 * hourMs);
  expect(duty.posts()).toEqual([]);
  expect(duty.mailbox()?.verdict).toEqual(verdict);
  duty.between.meddle = () => 'pass';
  await duty.until(() => duty.alert('not_guarded') === undefined, 5 * minuteMs);
  expect((await duty.notified()).filter((notified) => notified.endsWith('not_guarded'))).toEqual([
    'firing not_guarded',
    'resolved not_guarded',
  ]);
});

test('H12: 429 in spite of our counting shrinks the budget, fires an alert at the third within an hour, and ends after a quiet hour', async () => {
  await using duty = await calmDuty();
  const whole = duty.account()?.requestsPerMinute;
  let refusals = 0;
  const refuseOnce = async () => {
    duty.between.meddle = ({ path }) => {
      // Asked without the key, it says nothing about the key.
      if (path === '/v1/health') return 'pass';
      refusals += 1;
      duty.between.meddle = () => 'pass';
      return { status: 429, body: { error: 'too many requests' }, headers: { 'retry-after': '2' } };
    };
    await duty.run(5 * minuteMs);
  };
  await refuseOnce();
  expect(duty.account()?.requestsPerMinute).toBe(Math.floor((whole ?? 0) * 0.75));
  await refuseOnce();
  expect(duty.alert('budget_too_small')).toBeUndefined();
  await refuseOnce();
  expect([refusals, duty.alert('budget_too_small')?.status]).toEqual([3, 'firing']);
  await duty.run(2 * hourMs);
  expect([duty.account()?.requestsPerMinute, await duty.notified()]).toEqual([
    whole,
    ['firing budget_too_small', 'resolved budget_too_small'],
  ]);
});

test('H13: a burst of 5xx slows the account, not one mailbox, and one bad mailbox slows no other', async () => {
  await using duty = await goOnDuty({ scenario: calm });
  await duty.run(20 * minuteMs);
  const bad = duty.mailbox(calm.fleet[0]?.email)?.id ?? '';
  const during = async (meddle: Duty['between']['meddle']) => {
    const from = duty.between.requests.length;
    duty.between.meddle = meddle;
    await duty.run(30 * minuteMs);
    return duty.between.requests.slice(from).filter(({ path }) => path !== '/v1/health');
  };
  const busy = { status: 503, body: '' };
  const oneBad = await during(({ path }) => (path.includes(bad) ? busy : 'pass'));
  expect(oneBad.filter(({ path }) => path.startsWith('/v1/stats') && !path.includes(bad)).length).toBeGreaterThan(7);
  const all = await during(() => busy);
  const gaps = all.slice(1).map(({ at }, index) => at - (all[index]?.at ?? 0));
  expect(Math.max(...gaps)).toBeGreaterThan(5_000);
  expect(duty.alert('not_guarded')?.status).toBe('firing');
});

test('S8: a list that suddenly lacks most mailboxes fires an alert, and no mailbox counts as removed until it has lasted an hour', async () => {
  await using duty = await calmDuty();
  const removed = calm.fleet.slice(0, 3);
  for (const { email } of removed) duty.simulator.fleet.remove(email);
  await duty.run(30 * minuteMs);
  expect([duty.fleet().mailboxCount('agency'), duty.alert('not_guarded')?.status]).toEqual([5, 'firing']);
  await duty.run(40 * minuteMs);
  expect([duty.fleet().mailboxCount('agency'), duty.alert('not_guarded')]).toEqual([2, undefined]);
  const missing = () => [...duty.fleet().alerts()].filter(({ rule }) => rule === 'mailbox_missing');
  expect(missing().map(({ email }) => email)).toEqual(removed.map(({ email }) => email));
  for (const spec of removed) duty.simulator.fleet.add(spec);
  await duty.run(2 * minuteMs);
  expect([duty.fleet().mailboxCount('agency'), missing()]).toEqual([5, []]);
  expect(duty.posts()).toEqual([]);
});

test('S8: a list with more pages is reported as incomplete, and no mailbox counts as removed because of it', async () => {
  await using duty = await calmDuty();
  const [first] = calm.fleet;
  const entry = { id: duty.mailbox(first?.email)?.id, email: first?.email, status: 'active' };
  duty.between.meddle = ({ path }) =>
    path === '/v1/mailboxes' ? { status: 200, body: { mailboxes: [entry], next_cursor: 'abc' } } : 'pass';
  await duty.run(3 * hourMs);
  expect(duty.fleet().mailboxCount('agency')).toBe(5);
  expect(duty.alert('not_guarded')?.facts.title).toContain('the mailbox list is incomplete');
  duty.between.meddle = () => 'pass';
  await duty.run(2 * minuteMs);
  expect(await duty.notified()).toEqual(['firing not_guarded', 'resolved not_guarded']);
});

test('S8: a list that is empty from the start fires an alert in its second reading, which ends with the first mailbox', async () => {
  await using duty = await goOnDuty({ scenario: { ...calm, fleet: [] } });
  await duty.until(() => duty.alert('not_guarded')?.status === 'firing', 3 * hourMs);
  const { severity, facts } = duty.alert('not_guarded') ?? {};
  expect([severity, facts?.title]).toEqual(['warning', expect.stringContaining('its mailbox list is empty')]);
  for (const spec of calm.fleet) duty.simulator.fleet.add(spec);
  await duty.until(() => duty.alert('not_guarded') === undefined, 3 * hourMs);
  expect([duty.fleet().mailboxCount('agency'), await duty.notified()]).toEqual([
    5,
    ['firing not_guarded', 'resolved not_guarded'],
  ]);
});

test('H23: a mailbox that is missing from two lists fires an alert, which ends when it is back', async () => {
  await using duty = await calmDuty();
  const [gone] = calm.fleet;
  duty.simulator.fleet.remove(gone?.email ?? '');
  await duty.run(2 * minuteMs);
  expect(duty.alert('mailbox_missing')).toMatchObject({ status: 'firing', email: gone?.email });
  await duty.restart();
  await duty.run(2 * minuteMs);
  expect(duty.alert('mailbox_missing')?.status).toBe('firing');
  if (gone) duty.simulator.fleet.add(gone);
  await duty.run(2 * minuteMs);
  expect([duty.alert('mailbox_missing'), duty.mailbox(gone?.email)?.missingLists]).toEqual([undefined, 0]);
});

test('a mailbox that stays away is no longer waited for after a week', async () => {
  await using duty = await goOnDuty({ scenario: calm, poll: { ...rarely, mailboxes: '0 * * * *' } });
  await duty.run(2 * hourMs);
  duty.simulator.fleet.remove(calm.fleet[0]?.email ?? '');
  await duty.run(3 * hourMs);
  expect(duty.alert('mailbox_missing')?.status).toBe('firing');
  await duty.run(7 * 24 * hourMs);
  expect(await duty.notified()).toEqual(['firing mailbox_missing', 'resolved mailbox_missing']);
});
