// A cadence that the budget can't bear: what the guard lives on is not crowded out.
import { expect, test } from 'vitest';
import { minuteMs } from '../../src/core/time.ts';
import { amelia, goOnDuty, jonas, oliver, rarePoll, stormOf } from '../account/duty.ts';

const everyTwoSeconds = Object.fromEntries(
  Object.keys(rarePoll).map((route) => [route, '*/2 * * * * *']),
) as typeof rarePoll;

test('health and the list take a fifth of the requests at most, and the guard gets the rest', async () => {
  await using duty = await goOnDuty({ scenario: stormOf(amelia, oliver, jonas), poll: everyTwoSeconds });
  await duty.run(5 * minuteMs);
  const account = duty.asked('/v1/health') + duty.asked('/v1/mailboxes');
  const guard = duty.asked('/v1/stats') + duty.asked('/v1/warmup');
  expect(duty.between.requests.length).toBeGreaterThan(400);
  expect(account / duty.between.requests.length).toBeLessThan(0.25);
  expect(guard / duty.between.requests.length).toBeGreaterThan(0.5);
});
