// When the next poll may be made at an even pace. Pure; times are milliseconds of the monotonic clock.
import { minuteMs } from '../model/time.ts';

export class Pace {
  #nextAt = 0;

  get nextAt(): number {
    return this.#nextAt;
  }

  /** Counts a poll that was made when it might be. A poll that came a little late does not delay the next. */
  made(now: number, perMinute: number): void {
    const gapMs = minuteMs / perMinute;
    this.#nextAt = Math.max(this.#nextAt, now - gapMs) + gapMs;
  }
}
