// How many requests a key may make a minute, counted in each of the ways in which services count.
import type { Clock } from '../../src/world/world.ts';

const windowMs = 60_000;
/** A small bucket holds this share of a minute's requests. */
const smallShare = 0.1;

/** The answer to one request's knock. */
export interface Admission {
  readonly admitted: boolean;
  /** Requests a minute. */
  readonly limit: number;
  readonly remaining: number;
  /** Whole seconds until a request is admitted again; 0 when this one was. */
  readonly retryAfterSeconds: number;
}

/** Counts one key's requests. A refused request does not count. */
export interface Limiter {
  knock(): Admission;
}

/**
 * sliding: at most the limit in any sixty seconds. fixed: at most the limit in each minute of the clock. token_bucket:
 * a full minute's requests at once, refilled evenly. small_bucket: the same, but it holds a tenth of that.
 */
export const limiterKinds = ['sliding', 'fixed', 'token_bucket', 'small_bucket'] as const;
export type LimiterKind = (typeof limiterKinds)[number];

/** `limit` is in requests a minute. */
export function createLimiter(kind: LimiterKind, limit: number, clock: Clock): Limiter {
  switch (kind) {
    case 'sliding':
      return new SlidingWindow(limit, clock);
    case 'fixed':
      return new FixedWindow(limit, clock);
    case 'token_bucket':
      return new Bucket(limit, limit, clock);
    case 'small_bucket':
      return new Bucket(limit, Math.max(1, Math.floor(limit * smallShare)), clock);
  }
}

function admission(admitted: boolean, limit: number, left: { remaining: number; waitMs: number }): Admission {
  const retryAfterSeconds = admitted ? 0 : Math.max(1, Math.ceil(left.waitMs / 1_000));
  return { admitted, limit, remaining: left.remaining, retryAfterSeconds };
}

/** An exact sliding window. */
class SlidingWindow implements Limiter {
  readonly #clock: Clock;
  readonly #limit: number;
  /** Monotonic milliseconds, oldest first; never more than the limit. */
  readonly #admittedAt: number[] = [];

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
    return admission(admitted, this.#limit, { remaining: this.#limit - this.#admittedAt.length, waitMs });
  }
}

/** A counter that starts over with each minute. */
class FixedWindow implements Limiter {
  readonly #clock: Clock;
  readonly #limit: number;
  #minute = Number.NaN;
  #admitted = 0;

  constructor(limit: number, clock: Clock) {
    this.#limit = limit;
    this.#clock = clock;
  }

  knock(): Admission {
    const now = this.#clock.monotonic();
    const minute = Math.floor(now / windowMs);
    if (minute !== this.#minute) this.#admitted = 0;
    this.#minute = minute;
    const admitted = this.#admitted < this.#limit;
    if (admitted) this.#admitted += 1;
    const waitMs = (minute + 1) * windowMs - now;
    return admission(admitted, this.#limit, { remaining: this.#limit - this.#admitted, waitMs });
  }
}

/** Tokens that come back evenly, `limit` a minute; full at the start. */
class Bucket implements Limiter {
  readonly #clock: Clock;
  readonly #limit: number;
  readonly #capacity: number;
  #tokens: number;
  #filledAt: number;

  constructor(limit: number, capacity: number, clock: Clock) {
    this.#limit = limit;
    this.#capacity = capacity;
    this.#clock = clock;
    this.#tokens = capacity;
    this.#filledAt = clock.monotonic();
  }

  knock(): Admission {
    const now = this.#clock.monotonic();
    const tokenMs = windowMs / this.#limit;
    this.#tokens = Math.min(this.#capacity, this.#tokens + (now - this.#filledAt) / tokenMs);
    this.#filledAt = now;
    const admitted = this.#tokens >= 1;
    if (admitted) this.#tokens -= 1;
    const waitMs = (1 - this.#tokens) * tokenMs;
    return admission(admitted, this.#limit, { remaining: Math.floor(this.#tokens), waitMs });
  }
}
