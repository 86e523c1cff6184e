// Watches the store in a replica, whether or not it sends the messages, and tells the other replicas what is wrong.
import type { Loop } from '../loop.ts';
import { secondMs } from '../model/time.ts';
import type { Notifying } from './notifying.ts';
import type { Opened } from './open.ts';

const lookEveryMs = 2 * secondMs;
const proveEveryMs = 30 * secondMs;

export function watchingLoops({ world, store, fleet, loops }: Opened, notifying: Notifying): readonly Loop[] {
  const { membership } = store;
  let elsewhere = false;
  const look = async () => {
    // A heartbeat is no read or write of the store's own.
    if (membership.overdue) store.notice(membership.overdue);
    notifying.health.look();
    membership.report({ storeFailure: fleet.storeFailure });
    const before = elsewhere;
    elsewhere = notifying.failureElsewhere() !== null;
    if (elsewhere !== before) notifying.wakeStoreWatch();
  };
  const prove = async () => {
    // Who sends the messages does it on its own.
    if (!notifying.isOn) await store.proveWritable(world.clock.now()).catch(() => {});
  };
  // A write may wait for long: the looks do not wait for it.
  return [
    loops.every(lookEveryMs, 'watching the store for the other replicas', look),
    loops.every(proveEveryMs, 'testing whether the store can be written', prove),
    loops.create('telling of the store while no replica sends the messages', () => notifying.standIn()),
  ];
}
