// Watches the store in a replica, whether or not it sends the messages, and tells the other replicas what is wrong.
import type { Loop } from '../loop.ts';
import { secondMs } from '../model/time.ts';
import type { Notifying } from './notifying.ts';
import type { Opened } from './open.ts';

const lookEveryMs = 2 * secondMs;
const proveEveryMs = 30 * secondMs;

/** `recovered` is called when the store works again: this replica may guard again. */
export function watchingLoops(
  { world, store, fleet, loops }: Opened,
  notifying: Notifying,
  recovered: () => void,
): readonly Loop[] {
  const { membership } = store;
  let elsewhere = false;
  let proveAt = Number.NEGATIVE_INFINITY;
  const look = async () => {
    const failed = fleet.storeFailure !== null;
    membership.report({ storeFailure: notifying.health.look() });
    if (failed && !fleet.storeFailure) recovered();
    const before = elsewhere;
    elsewhere = notifying.failureElsewhere() !== null;
    if (elsewhere !== before) notifying.wakeStoreWatch();
  };
  const prove = async () => {
    const now = world.clock.monotonic();
    // The replica that sends the messages does this anyway. While the store fails, its end has to be seen at once.
    if (!fleet.storeFailure && (notifying.isOn || now < proveAt)) return;
    await store.proveWritable(world.clock.now()).catch(() => {});
    proveAt = now + proveEveryMs;
  };
  // A write may wait for long: the looks do not wait for it.
  return [
    loops.every(lookEveryMs, 'watching the store for the other replicas', look),
    loops.every(lookEveryMs, 'testing whether the store can be written to', prove),
    loops.create('notifying of the store while no replica sends the messages', () => notifying.standIn.step()),
  ];
}
