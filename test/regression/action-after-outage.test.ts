// The store refused a step of an action and worked again a second later: the action was taken up again only after a minute.
import { expect, test } from 'vitest';
import { secondMs } from '../../src/core/time.ts';
import { goOnDuty } from '../account/duty.ts';
import { failWrites } from '../support/failing-writes.ts';

test('an action whose step the store refused goes on within seconds after the store works again, and is sent once', async () => {
  await using duty = await goOnDuty();
  await duty.until(() => duty.mailbox()?.warmup !== null && duty.reason() !== undefined);
  let isFull = false;
  using writes = failWrites(() => isFull);
  duty.between.meddle = ({ path }) => {
    isFull ||= path.startsWith('/v1/warmup') && duty.action()?.state === 'planned';
    return 'pass';
  };
  await duty.until(() => writes.failed > 0);
  await duty.run(5 * secondMs);
  expect([duty.action()?.state, duty.posts()]).toEqual(['planned', []]);
  duty.between.meddle = () => 'pass';
  isFull = false;
  await duty.store().proveWritable(duty.clock.now());
  await duty.until(() => duty.action()?.state === 'confirmed', 20 * secondMs);
  expect(duty.posts()).toHaveLength(1);
});
