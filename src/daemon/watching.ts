// Watches the store in a replica, whether or not it sends the messages, and tells the other replicas what is wrong.
import { secondMs } from '../model/time.ts';
import { createLoop, type Loop } from '../notify/loop.ts';
import type { Notifying } from './notifying.ts';
import type { Opened } from './open.ts';

const lookEveryMs = 2 * secondMs;
const proveEveryMs = 30 * secondMs;

export class Watching {
  readonly #loops: readonly Loop[];

  constructor({ world, store, fleet }: Opened, notifying: Notifying) {
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
      return lookEveryMs;
    };
    const prove = async () => {
      // Who sends the messages does it on its own.
      if (!notifying.isOn) await store.proveWritable(world.clock.now()).catch(() => {});
      return proveEveryMs;
    };
    // A write may wait for long: the looks do not wait for it.
    this.#loops = [createLoop('looks at the store', world, look), createLoop('writes to the store', world, prove)];
  }

  start(): void {
    for (const loop of this.#loops) loop.start();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#loops.map((loop) => loop.stop()));
  }
}
