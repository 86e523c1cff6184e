// Ends what replicas that died left behind: their commands in the audit log, and their runs of recipes.
import { minuteMs, secondMs } from '../model/time.ts';
import type { Membership } from '../replicas/membership.ts';
import type { LeftBy } from '../store/left-behind.ts';
import type { World } from '../world.ts';

const lookEveryMs = 30 * secondMs;
/** Whoever joined so long ago is seen by all. */
const knownAfterMs = minuteMs;

export interface LeftBehindParts {
  readonly world: World;
  readonly membership: Membership;
  readonly end: (left: LeftBy) => Promise<void>;
}

export class LeftBehind {
  readonly #parts: LeftBehindParts;
  readonly #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(parts: LeftBehindParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { clock, log } = this.#parts.world;
    while (!this.#stop.signal.aborted) {
      try {
        await this.#look();
      } catch (error) {
        log.error({ err: error }, 'what a replica left behind could not be ended');
      }
      await clock.sleep(lookEveryMs, this.#stop.signal);
    }
  }

  async #look(): Promise<void> {
    const { world, membership, end } = this.#parts;
    const living = membership.replicas().map(({ id }) => id);
    // Who does not see itself sees nobody yet.
    if (!membership.holds('clock') || membership.self === null || !living.includes(membership.self)) return;
    await end({ living, before: world.clock.now() - knownAfterMs });
  }
}
