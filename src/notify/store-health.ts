// What is wrong with the store as this process sees it, by what its reads and writes came to: shown, and logged, whether or not
// people are told by this process.
import { type StoreFailure, titleOf } from '../model/store-failure.ts';
import { hourMs, minuteMs } from '../model/time.ts';
import { sentence } from '../wording/explain.ts';
import type { NotifyParts } from './parts.ts';

/**
 * It works again when nothing has failed for so long: one small write that succeeds is no proof. Twice as long after each
 * relapse, so that what fails now and then is one alert.
 */
export const soundAfterMs = minuteMs;
const longestSoundAfterMs = hourMs;

/** One for the life of the process: what failed before it took over the messages is not reported as new. */
export class StoreHealth {
  readonly #parts: NotifyParts;
  #failuresSeen = 0;
  /** On the monotonic scale. */
  #failedAt = Number.NEGATIVE_INFINITY;
  #soundAfterMs = soundAfterMs;
  readonly #notice: () => void;

  /** `notice` lets the store count a failure that is neither a read nor a write. */
  constructor(parts: NotifyParts, notice: () => void = () => {}) {
    this.#parts = parts;
    this.#notice = notice;
  }

  /**
   * Shows what is wrong with the store at the moment. Returns what people are to be told: null when nothing has failed for a while,
   * so that an outage with pauses is one alert.
   */
  look(): StoreFailure | null {
    this.#notice();
    const failure = this.#failure();
    const { fleet, world, store } = this.#parts;
    const shown = failure?.untilWritten && store.trouble.wroteSince ? null : failure;
    if (shown && !fleet.storeFailure) {
      world.log.error({ failure: shown.said, remedy: shown.remedy }, sentence(titleOf(shown)));
    }
    if (!shown && fleet.storeFailure) world.log.info('The store works again.');
    fleet.putStoreFailure(shown);
    return failure;
  }

  #failure(): StoreFailure | null {
    const { store, world } = this.#parts;
    const { failures, newest } = store.trouble;
    const now = world.clock.monotonic();
    if (failures > this.#failuresSeen) {
      const sinceMs = now - this.#failedAt;
      const relapsed = sinceMs >= this.#soundAfterMs && sinceMs < longestSoundAfterMs;
      if (relapsed) this.#soundAfterMs = Math.min(2 * this.#soundAfterMs, longestSoundAfterMs);
      if (sinceMs >= longestSoundAfterMs) this.#soundAfterMs = soundAfterMs;
      this.#failedAt = now;
    }
    this.#failuresSeen = failures;
    return newest?.lasting || now - this.#failedAt < this.#soundAfterMs ? newest : null;
  }
}
