// A receiver that answers 410 once, or for days: it is asked again hourly and for each critical alert, and nothing is lost.
import { expect, test } from 'vitest';
import { dayMs, hourMs, minuteMs, secondMs } from '../../src/core/time.ts';
import { firing, sampleAlert, start } from '../alerts/samples.ts';
import { startReceiver, status } from '../outbox/receiver.ts';
import { hookTo, rigWith } from '../outbox/rig.ts';

const warning = (account: string) => firing(sampleAlert(1, { account }));
const critical = (account: string) => firing(sampleAlert(1, { account, severity: 'critical' }));

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

test('410 is asked again after an hour, and what waited is sent', async () => {
  await using at = await stage();
  at.rig.commit(warning('one'), warning('two'));
  await at.rig.clock.advance(minuteMs);
  at.rig.commit(warning('three'));
  await at.rig.clock.advance(57 * minuteMs);
  expect([at.receiver.received.length, at.states()]).toEqual([1, ['pending', 'pending', 'pending']]);
  at.receiver.answer = status(200);
  await at.rig.clock.advance(5 * minuteMs);
  expect(at.states()).toEqual(['sent', 'sent', 'sent']);
  expect(new Set(at.accounts())).toEqual(new Set(['one', 'two', 'three']));
  expect(at.rig.logged.filter((line) => line.includes('undelivered'))).toEqual([]);
});

test('each critical alert asks again at once, and what works then gets all that waited', async () => {
  await using at = await stage();
  at.rig.commit(warning('one'));
  await at.rig.clock.advance(minuteMs);
  at.rig.commit(critical('two'));
  await at.rig.clock.advance(31 * secondMs);
  expect(at.accounts()).toEqual(['one', 'two']);
  at.rig.commit(warning('three'));
  await at.rig.clock.advance(10 * minuteMs);
  expect(at.accounts()).toEqual(['one', 'two']);
  at.receiver.answer = status(200);
  at.rig.commit(critical('four'));
  await at.rig.clock.advance(minuteMs);
  expect(at.states()).toEqual(['sent', 'sent', 'sent', 'sent']);
});

test('what has waited for a day is undelivered, and everything younger waits on', async () => {
  await using at = await stage();
  for (let hour = 0; hour < 40; hour += 1) {
    at.rig.commit(warning(`early ${hour}`));
    await at.rig.clock.advance(hourMs);
  }
  expect(at.receiver.received.length).toBeLessThan(45);
  for (const { state, createdAt } of at.rig.store.deliveries()) {
    const age = at.rig.clock.now() - createdAt;
    if (age > dayMs + hourMs + minuteMs) expect(state).toBe('dead');
    if (age < dayMs) expect(state).toBe('pending');
  }
});
