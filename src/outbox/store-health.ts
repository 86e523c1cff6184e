// What is wrong with the store as this process sees it, by what its reads and writes came to: shown, and logged, whether or not
// people are notified by this process.
import type { StoreFailure } from '../core/store-failure.ts';
import { hourMs, minuteMs, secondMs } from '../core/time.ts';
import type { NotifyParts } from './outbox-store.ts';

/**
 * People are notified that it works again when nothing has failed for so long. Longer after each relapse, so that what fails now and
 * then is one alert.
 */
const soundAfterMs = 30 * secondMs;
const longestSoundAfterMs = hourMs;
/** After the first relapse; each further one doubles it. */
const relapsedSoundAfterMs = 2 * minuteMs;
/** A failure is shown until what failed has succeeded, or for so long where that is not tried again. */
const shownForMs = minuteMs;

/** One for the life of the process: what failed before it took over the messages is not reported as new. */
export class StoreHealth {
  readonly #parts: NotifyParts;
  /** On the monotonic scale. */
  #failedAt = Number.NEGATIVE_INFINITY;
  #soundAfterMs = soundAfterMs;
  readonly #heartbeat: () => void;
  #listener: () => void = () => {};

  /** `heartbeat` tells the store whether the heartbeat fails, which is neither a read nor a write. */
  constructor(parts: NotifyParts, heartbeat: () => void = () => {}) {
    this.#parts = parts;
    this.#heartbeat = heartbeat;
    if (parts.store.trouble.newest) this.#failed();
    parts.store.onTrouble(() => {
      this.#failed();
      this.#listener();
    });
  }

  /** Called after each failure. There is one listener. */
  onFailure(listener: () => void): void {
    this.#listener = listener;
  }

  /**
   * Shows what is wrong with the store at the moment. Returns what the message is to say: null when nothing has failed for a while,
   * so that an outage with pauses is one alert.
   */
  look(): StoreFailure | null {
    this.#heartbeat();
    const { fleet, world, store } = this.#parts;
    const { newest, isOver } = store.trouble;
    const sinceMs = world.clock.monotonic() - this.#failedAt;
    const shown = newest && (newest.lasting || (!isOver && sinceMs < shownForMs)) ? newest : null;
    if (shown && !fleet.storeFailure) {
      world.log.error({ failure: shown.said, remedy: shown.remedy }, 'The store is failing.');
    }
    if (!shown && fleet.storeFailure) world.log.info('The store works again.');
    fleet.putStoreFailure(shown, fleet.storeFailingSince ?? world.clock.now());
    if (shown) return shown;
    if (newest && sinceMs < this.#soundAfterMs) return { ...newest, isOver: true };
    store.forgetTrouble();
    return null;
  }

  /** Until nothing has failed for long enough, milliseconds; none when that is so. */
  get unsoundMs(): number {
    return Math.max(0, this.#failedAt + this.#soundAfterMs - this.#parts.world.clock.monotonic());
  }

  #failed(): void {
    const now = this.#parts.world.clock.monotonic();
    const sinceMs = now - this.#failedAt;
    const relapsed = sinceMs >= this.#soundAfterMs && sinceMs < longestSoundAfterMs;
    if (relapsed)
      this.#soundAfterMs = Math.min(Math.max(2 * this.#soundAfterMs, relapsedSoundAfterMs), longestSoundAfterMs);
    if (sinceMs >= longestSoundAfterMs) this.#soundAfterMs = soundAfterMs;
    this.#failedAt = now;
  }
}
