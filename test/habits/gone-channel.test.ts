// A receiver that answers 410: people are told at once, it is asked again every five minutes, and nothing is lost.
import { expect, test } from 'vitest';
import { hourMs, minuteMs, secondMs } from '../../src/core/time.ts';
import { firing, sampleAlert, start } from '../alerts/samples.ts';
import { startReceiver, status } from '../outbox/receiver.ts';
import { hookTo, rigWith } from '../outbox/rig.ts';

const warning = (account: string) => firing(sampleAlert(1, { account }));

async function stage() {
  const clock = { now: () => start };
  const receiver = await startReceiver(() => clock.now());
  const rig = rigWith(hookTo(receiver.url));
  clock.now = rig.clock.now;
  receiver.answer = status(410);
  const states = () => rig.store.deliveries().map(({ state }) => state);
  const accounts = () => receiver.received.map(({ body }) => JSON.parse(body).data.account as string);
  const [dispose, disposeRig] = [receiver[Symbol.asyncDispose], rig[Symbol.asyncDispose]];
  return {
    ...{ receiver, rig, states, accounts },
    [Symbol.asyncDispose]: async () => {
      await disposeRig();
      await dispose();
    },
  };
}

test('410 is asked again every five minutes, and what waited is sent', async () => {
  await using at = await stage();
  at.rig.commit(warning('one'), warning('two'));
  await at.rig.clock.advance(minuteMs);
  at.rig.commit(warning('three'));
  await at.rig.clock.advance(57 * minuteMs);
  expect([at.receiver.received.length < 13, at.states()]).toEqual([true, ['pending', 'pending', 'pending']]);
  at.receiver.answer = status(200);
  await at.rig.clock.advance(16 * minuteMs);
  expect(at.states()).toEqual(['sent', 'sent', 'sent']);
  expect(new Set(at.accounts())).toEqual(new Set(['one', 'two', 'three']));
  expect(at.rig.logged.filter((line) => line.includes('undelivered'))).toEqual([]);
});

test('channel_failing fires within a minute, and ends when a message is taken', async () => {
  await using at = await stage();
  at.rig.commit(warning('one'));
  await at.rig.clock.advance(90 * secondMs);
  expect([...at.rig.fleet.alerts()].map(({ rule, object }) => [rule, object])).toEqual([['channel_failing', 'hook']]);
  at.receiver.answer = status(200);
  await at.rig.clock.advance(hourMs + minuteMs);
  expect([...at.rig.fleet.alerts()]).toEqual([]);
});
