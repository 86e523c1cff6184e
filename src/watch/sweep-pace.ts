// How fast a part of a first sweep goes, and how long it will still take. Times are milliseconds of the monotonic clock.
import { minuteMs } from '../model/time.ts';

/** Before that the budget says how fast it will be; then what was measured does. */
const measuredAfterMs = minuteMs;
/** Without an end of a poll for so long, or for so many times the usual, nothing can be foreseen. */
const stalledMs = 2 * minuteMs;
const stalledPolls = 3;

export class SweepPace {
  readonly #since: number;
  #lastAt: number;
  #done = 0;

  constructor(now: number) {
    this.#since = now;
    this.#lastAt = now;
  }

  /** When a poll came to its end last; the beginning before the first. */
  get lastAt(): number {
    return this.#lastAt;
  }

  /** A poll came to its end. */
  done(now: number): void {
    this.#done += 1;
    this.#lastAt = now;
  }

  /** How long that many polls will take; null while that can't be foreseen. `perMinute`: what the budget has for them. */
  leftMs(polls: number, perMinute: number, now: number): number | null {
    const spentMs = this.#lastAt - this.#since;
    const everyMs = spentMs < measuredAfterMs ? minuteMs / perMinute : spentMs / this.#done;
    const stalled = now - this.#lastAt > Math.max(stalledMs, stalledPolls * everyMs);
    return polls > 0 && stalled ? null : polls * everyMs;
  }
}
