// A key that may not write, and a restart: what people were notified of does not end because the new process has not written yet.
import { expect, test } from 'vitest';
import { hourMs, minuteMs } from '../../src/model/time.ts';
import { amelia, goOnDuty, rarePoll } from '../watch/duty.ts';

const refusal = { status: 403, body: { error: 'the API key lacks the write permission' } };

test('after a restart the key counts as read-only, and the breach as not acted on, until a write is let through', async () => {
  await using duty = await goOnDuty({ poll: rarePoll, afterMs: 3 * hourMs });
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
