// The API answered everything but the warm-up status, which is looked at before an action: a breach was not acted upon, every
// light was green, and nobody was told. docs/faults.md H14.
import { expect, test } from 'vitest';
import { minuteMs } from '../../src/core/time.ts';
import { goOnDuty } from '../account/duty.ts';

test('an action that cannot be sent fires an alert after five minutes, which ends when it is confirmed', async () => {
  await using duty = await goOnDuty();
  await duty.until(() => duty.mailbox()?.warmup !== null && duty.reason() !== undefined);
  duty.between.meddle = ({ path }) => (path.startsWith('/v1/warmup') ? { status: 500, body: 'no' } : 'pass');
  await duty.until(() => duty.action()?.state === 'planned');
  await duty.run(4 * minuteMs);
  expect(duty.alert('guard_action_failed')).toBeUndefined();
  await duty.run(2 * minuteMs);
  expect(duty.alert('guard_action_failed')).toMatchObject({
    status: 'firing',
    severity: 'critical',
    facts: {
      title: 'amelia.ward@northbeam.example: the switch to recovery mode is overdue',
      sentences: expect.arrayContaining([
        expect.stringMatching(
          /^NO ACTION TAKEN: Warmwarden has not been able to send the switch to recovery mode since .* UTC\./,
        ),
      ]),
    },
  });
  expect(duty.posts()).toEqual([]);
  duty.between.meddle = () => 'pass';
  await duty.until(() => duty.action()?.state === 'confirmed');
  expect(duty.posts()).toHaveLength(1);
  // Beside it, not_guarded and stale_data tell that no warm-up is given.
  const told = (await duty.notified()).filter((one) => !/not_guarded|stale_data/.test(one));
  expect(told).toEqual(['firing guard_action_failed', 'event guard_acted confirmed', 'resolved guard_action_failed']);
});
