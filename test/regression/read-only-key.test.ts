// A key that may not write, and a restart: what people were notified of does not end because the new process has not written yet.
import { expect, test } from 'vitest';
import { defaultRuleSettings } from '../../src/core/rule-settings.ts';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import { amelia, goOnDuty, jonas, rarePoll, stormOf } from '../account/duty.ts';

/** Two mailboxes: the refusal of one says nothing of the key. */
const scenario = stormOf(amelia, jonas);
const refusal = { status: 403, body: { error: 'the API key lacks the write permission' } };

test('after a restart the key counts as read-only, and the breach as not acted on, until a write is let through', async () => {
  await using duty = await goOnDuty({ scenario, poll: rarePoll, afterMs: 3 * hourMs });
  duty.between.meddle = (request) => (request.method === 'POST' ? refusal : 'pass');
  const keyWrites = () => [...duty.fleet().accounts()][0]?.keyWrites;
  const notActed = () => [...duty.fleet().alerts()].find(({ rule }) => rule === 'bounce_over_limit');
  await duty.until(() => keyWrites() === false && notActed()?.status === 'firing');
  await duty.restart();
  expect(keyWrites()).toBe(false);
  await duty.run(30 * minuteMs);
  expect([keyWrites(), notActed()?.status]).toEqual([false, 'firing']);
  expect((await duty.notified()).filter((one) => one.startsWith('resolved'))).toEqual([]);
  duty.between.meddle = () => 'pass';
  await duty.until(() => duty.mailbox(amelia)?.memory?.claim != null);
  await duty.run(hourMs);
  expect([keyWrites(), notActed()?.status ?? 'resolved']).toEqual([true, 'resolved']);
});

test('a configuration in which not_guarded is off changes nothing of that', async () => {
  const { of } = defaultRuleSettings;
  const rules = { ...defaultRuleSettings, of: { ...of, not_guarded: { ...of.not_guarded, enabled: false } } };
  await using duty = await goOnDuty({ scenario, poll: rarePoll, afterMs: 3 * hourMs, rules });
  duty.between.meddle = (request) => (request.method === 'POST' ? refusal : 'pass');
  const keyWrites = () => [...duty.fleet().accounts()][0]?.keyWrites;
  const notActed = () => duty.alert('bounce_over_limit')?.status;
  await duty.until(() => keyWrites() === false && notActed() === 'firing');
  await duty.restart();
  expect([keyWrites(), duty.alert('not_guarded')]).toEqual([false, undefined]);
  await duty.run(30 * minuteMs);
  expect([keyWrites(), notActed()]).toEqual([false, 'firing']);
  duty.between.meddle = () => 'pass';
  await duty.until(() => duty.mailbox(amelia)?.memory?.claim != null);
  await duty.restart();
  expect(keyWrites()).toBeNull();
});

test('the refusal of a write and what it shows of the key are stored as one: a kill right after the first leaves both', async () => {
  await using duty = await goOnDuty({ scenario, poll: rarePoll, afterMs: 3 * hourMs });
  duty.between.meddle = (request) => (request.method === 'POST' ? refusal : 'pass');
  await duty.until(() => duty.action(jonas)?.state === 'refused');
  // Of the account, not of the mailbox's first look: no summary of findings is waited for.
  const [told] = (await duty.store().outbox.unnotifiedTransitions(100)).flatMap(({ transition }) =>
    transition.alert.rule === 'not_guarded' ? [transition] : [],
  );
  expect([told?.kind, told?.found]).toEqual(['firing', undefined]);
  await duty.restart({ image: duty.image() });
  expect([...duty.fleet().accounts()][0]?.keyWrites).toBe(false);
  await duty.until(() => duty.alert('bounce_over_limit')?.status === 'firing', 30 * minuteMs);
});
