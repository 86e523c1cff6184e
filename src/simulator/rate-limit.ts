// How many requests a key may make: an exact sliding window of sixty seconds.
import type { Clock } from '../world.ts';

const windowMs = 60_000;

/** The answer to one request's knock. */
export interface Admission {
  readonly admitted: boolean;
  /** Requests a minute. */
  readonly limit: number;
  readonly remaining: number;
  /** Whole seconds until a request is admitted again; 0 when this one was. */
  readonly retryAfterSeconds: number;
}

/** One key's window. A refused request does not count. */
export class SlidingWindow {
  readonly #clock: Clock;
  readonly #limit: number;
  /** Monotonic milliseconds, oldest first; never more than the limit. */
  readonly #admittedAt: number[] = [];

  /** `limit` is in requests a minute. */
  constructor(limit: number, clock: Clock) {
    this.#limit = limit;
    this.#clock = clock;
  }

  knock(): Admission {
    const now = this.#clock.monotonic();
    while ((this.#admittedAt[0] ?? now) + windowMs <= now) this.#admittedAt.shift();
    const admitted = this.#admittedAt.length < this.#limit;
    if (admitted) this.#admittedAt.push(now);
    const waitMs = (this.#admittedAt[0] ?? now) + windowMs - now;
    return {
      admitted,
      limit: this.#limit,
      remaining: this.#limit - this.#admittedAt.length,
      retryAfterSeconds: admitted ? 0 : Math.ceil(waitMs / 1_000),
    };
  }
}
