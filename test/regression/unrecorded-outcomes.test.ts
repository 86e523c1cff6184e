// A disk that fills up between a message and the record that it was sent: the same alert was in the channel every five seconds.
import { expect, test } from 'vitest';
import { hourMs, minuteMs, secondMs } from '../../src/core/time.ts';
import { firing, sampleAlert } from '../alerts/samples.ts';
import { type Receiver, startReceiver, status } from '../outbox/receiver.ts';
import { hookTo, rigWith } from '../outbox/rig.ts';

const accountOf = ({ body }: Receiver['received'][number]) => JSON.parse(body).data.account;
/** Without the alert that the store is failing, which stands in no outbox. */
const accounts = ({ received }: Receiver) => received.map(accountOf).filter((account) => account.startsWith('acme'));

test('what was sent while nothing could be recorded is sent once, and recorded as sent afterwards', async () => {
  await using receiver = await startReceiver();
  await using rig = rigWith(hookTo(receiver.url));
  receiver.answer = status(503);
  for (let number = 1; number <= 3; number += 1) rig.commit(firing(sampleAlert(number, { account: `acme${number}` })));
  await rig.clock.advance(31 * secondMs);
  rig.store.full = new Error('database or disk is full');
  receiver.received.length = 0;
  receiver.answer = status(200);
  await rig.clock.advance(hourMs);
  // Each of them, however long the first one's outcome can't be recorded.
  expect(accounts(receiver).sort()).toEqual(['acme1', 'acme2', 'acme3']);
  expect(rig.store.deliveries().map(({ state }) => state)).toEqual(['pending', 'pending', 'pending']);
  rig.store.full = null;
  await rig.clock.advance(10 * secondMs);
  expect(rig.store.deliveries().slice(0, 3)).toMatchObject([{ state: 'sent' }, { state: 'sent' }, { state: 'sent' }]);
  await rig.clock.advance(minuteMs);
  expect(accounts(receiver)).toHaveLength(3);
});
