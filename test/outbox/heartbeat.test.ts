// The heartbeat: it beats while the guard works, and stops when something that nobody would see stands still.
import { expect, test } from 'vitest';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import { firing, sampleAlert, start } from '../alerts/samples.ts';
import { account } from '../web/example-fleet.ts';
import { type Receiver, startReceiver, status } from './receiver.ts';
import { hookTo, type Rig, rigWith } from './rig.ts';

const beating = ({ url }: Receiver, channels: Parameters<typeof rigWith>[0] = () => []) =>
  rigWith(channels, { heartbeat: { url, intervalMs: minuteMs } });

async function minutes(rig: Rig, count: number): Promise<void> {
  for (let minute = 0; minute < count; minute += 1) {
    rig.fleet.putAccount(account('acme', { lastSuccessAt: rig.clock.now() }));
    await rig.clock.advance(minuteMs);
  }
}

test('beats once an interval while an account is polled, and never before', async () => {
  await using switchOf = await startReceiver();
  await using rig = beating(switchOf);
  await rig.clock.advance(5 * minuteMs);
  expect(switchOf.received).toHaveLength(0);
  await minutes(rig, 10);
  expect(switchOf.received.map(({ body }) => body)).toEqual(Array.from({ length: 10 }, () => ''));
  await rig.clock.advance(hourMs);
  const beats = switchOf.received.length;
  expect(beats).toBeLessThan(30);
  await rig.clock.advance(hourMs);
  expect(switchOf.received).toHaveLength(beats);
  expect(rig.logged.join()).toContain('no account has been polled lately');
});

test('stops when the outbox is stuck, and goes on when its messages got through', async () => {
  await using switchOf = await startReceiver();
  await using hook = await startReceiver();
  hook.answer = status(503);
  await using rig = beating(switchOf, hookTo(hook.url));
  rig.commit(firing(sampleAlert(1)));
  await minutes(rig, 15);
  const beats = switchOf.received.length;
  expect(beats).toBeGreaterThan(12);
  await minutes(rig, 20);
  expect(switchOf.received.length).toBeLessThan(beats + 3);
  expect(rig.logged.join()).toContain('messages for hook are stuck');
  const stopped = switchOf.received.length;
  hook.answer = status(200);
  await minutes(rig, 30);
  expect(switchOf.received.length).toBeGreaterThan(stopped + 10);
  expect(rig.logged.filter((line) => line.includes('The heartbeat'))).toHaveLength(2);
});

test('stops while the store is failing', async () => {
  await using switchOf = await startReceiver();
  await using rig = beating(switchOf);
  await minutes(rig, 3);
  const beats = switchOf.received.length;
  rig.store.broken = new Error('disk full');
  await minutes(rig, 3);
  expect(switchOf.received).toHaveLength(beats);
  rig.store.broken = null;
  // Nothing has failed for a minute, and the next ping is due a minute later.
  await minutes(rig, 3);
  expect(switchOf.received.length).toBeGreaterThan(beats);
});

test('stops while an account is starting, and goes on when it is guarded', async () => {
  await using switchOf = await startReceiver();
  await using rig = beating(switchOf);
  await minutes(rig, 5);
  const beats = switchOf.received.length;
  rig.fleet.putGuarding([{ account: 'acme', startingSince: start }]);
  await minutes(rig, 5);
  expect(switchOf.received).toHaveLength(beats);
  expect(rig.logged.join()).toContain('account acme is starting');
  rig.fleet.putGuarding([{ account: 'acme', startingSince: null }]);
  await minutes(rig, 5);
  expect(switchOf.received.length).toBeGreaterThan(beats);
});
