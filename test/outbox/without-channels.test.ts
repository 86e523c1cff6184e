// While there is no channel, what people would be notified of waits for one: bounded, and once.
import { expect, test } from 'vitest';
import { fingerprintOf, type Transition } from '../../src/core/alert.ts';
import { dayMs, hourMs, minuteMs } from '../../src/core/time.ts';
import { firing, resolved, sampleAlert, start } from '../alerts/samples.ts';
import { startReceiver, status } from './receiver.ts';
import { hookTo, type Rig, rigWith } from './rig.ts';

function acted(number: number, at = start): Transition {
  const alert = sampleAlert(number, { rule: 'guard_acted' });
  return { kind: 'event', at, alert: { ...alert, fingerprint: fingerprintOf(alert) } };
}

function fire(rig: Rig, number: number): void {
  const alert = sampleAlert(number);
  rig.fleet.putAlerts({ changed: [alert], dropped: [] });
  rig.commit(firing(alert));
}

/** The alerts that the first channel gets, which comes after so long. */
async function toldAfter(begin: (rig: Rig) => void, waitMs: number) {
  await using receiver = await startReceiver(() => 0);
  await using rig = rigWith(() => []);
  begin(rig);
  await rig.clock.advance(waitMs);
  const waiting = rig.store.unnotified();
  await rig.reconfigure(hookTo(receiver.url)(rig.clock));
  await rig.clock.advance(10 * minuteMs);
  const alerts = receiver.received.flatMap(({ body }) => JSON.parse(body).data.alerts as { rule: string }[]);
  return { waiting, left: rig.store.unnotified(), rules: alerts.map(({ rule }) => rule).sort(), receiver };
}

test('what fires, and what Warmwarden did, is announced through the first channel that comes', async () => {
  const { rules, left } = await toldAfter((rig) => {
    fire(rig, 1);
    rig.commit(acted(2));
  }, hourMs);
  expect([rules, left]).toEqual([['guard_acted', 'stale_data'], 0]);
});

test('acts do not wait for ever: after three days, the first channel gets what fires', async () => {
  const { rules, waiting } = await toldAfter(
    (rig) => {
      fire(rig, 1);
      rig.commit(acted(2));
    },
    3 * dayMs + hourMs,
  );
  expect([rules, waiting]).toEqual([['stale_data'], 1]);
});

test('acts wait, too, when the clock was set back behind them', async () => {
  const { rules, waiting } = await toldAfter((rig) => rig.commit(acted(2, start + hourMs)), 2 * minuteMs);
  expect([rules, waiting]).toEqual([['guard_acted'], 1]);
});

test('the newest thousand acts wait, and make one message', async () => {
  const { waiting, receiver } = await toldAfter(
    (rig) => rig.commit(...Array.from({ length: 1_200 }, (_, number) => acted(number))),
    10 * minuteMs,
  );
  expect([waiting, receiver.received.length]).toEqual([1_000, 1]);
});

test('ten thousand steps of what fires do not wait, and the first channel still gets what fires', async () => {
  const { rules, waiting } = await toldAfter((rig) => {
    fire(rig, 1);
    rig.commit(...Array.from({ length: 10_000 }, () => firing(sampleAlert(1))));
  }, hourMs);
  expect([rules, waiting]).toEqual([['stale_data'], 1_000]);
});

test('what began and ended meanwhile is not announced', async () => {
  const { rules, waiting } = await toldAfter((rig) => {
    rig.commit(firing(sampleAlert(1)), resolved(sampleAlert(1)));
  }, hourMs);
  expect([rules, waiting]).toEqual([[], 0]);
});

test('the end of what people know of waits for a channel, too', async () => {
  await using receiver = await startReceiver(() => 0);
  await using rig = rigWith(hookTo(receiver.url));
  rig.commit(firing(sampleAlert(1)));
  await rig.clock.advance(minuteMs);
  await rig.reconfigure([]);
  rig.commit(resolved(sampleAlert(1)));
  await rig.clock.advance(hourMs);
  await rig.reconfigure(hookTo(receiver.url)(rig.clock));
  await rig.clock.advance(10 * minuteMs);
  const told = receiver.received.flatMap(({ body }) => JSON.parse(body).data.alerts as { status: string }[]);
  expect(told.map(({ status }) => status)).toEqual(['firing', 'resolved']);
});

test('a channel that is removed as the last one gets at once what waits for its group; one that fails has 15 s', async () => {
  await using receiver = await startReceiver(() => 0);
  await using rig = rigWith(hookTo(receiver.url));
  await rig.clock.advance(minuteMs);
  const removed = async () => {
    const from = rig.clock.monotonic();
    let over = false;
    const removing = rig.reconfigure([]).then(() => {
      over = true;
    });
    while (!over) await rig.clock.advance(100);
    await removing;
    return rig.clock.monotonic() - from;
  };
  rig.commit(firing(sampleAlert(1)));
  expect([(await removed()) < 1_000, receiver.received.length]).toEqual([true, 1]);
  await rig.reconfigure(hookTo(receiver.url)(rig.clock));
  receiver.answer = status(503);
  rig.commit(firing(sampleAlert(2, { account: 'beta' })));
  expect(await removed()).toBeLessThanOrEqual(15_000);
  expect(rig.store.deliveries().map(({ state }) => state)).toEqual(['sent', 'pending']);
  receiver.answer = status(200);
  await rig.reconfigure(hookTo(receiver.url)(rig.clock));
  await rig.clock.advance(10 * minuteMs);
  expect(rig.store.deliveries().map(({ state }) => state)).toEqual(['sent', 'sent']);
});
