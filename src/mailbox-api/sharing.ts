// Whether something else uses the key, as far as the API's answers show it, and what is left free for it then. Pure.
import type { Ppm } from '../model/policy.ts';
import type { RequestKind } from './interpret.ts';
import { RecentTimes } from './recent-times.ts';

/** Left free where nothing else uses the key: with less, requests that arrive late meet a full window (docs/performance.md). */
const alonePpm: Ppm = 30_000;
/** Left free for as long as something else uses the key. */
const sharedPpm: Ppm = 100_000;
/** A key counts as shared for so long after the last sign of it. */
const sharedForMs = 24 * 3_600_000;
const windowMs = 60_000;
/** No request takes longer (http/exchange.ts), its second try included. */
const longestRequestMs = 90_000;
/** A count may be one off: an API may count a request that broke off twice. */
const tolerated = 1;

/** Times are milliseconds of the monotonic clock. */
export class Sharing {
  #seenAt = Number.NEGATIVE_INFINITY;
  #underWay = 0;
  /** When our answers came. */
  #answeredAt = new RecentTimes();
  /** The most requests that ever remained. */
  #mostRemaining = 0;
  /** Remaining requests by the last answer to each kind of request. */
  readonly #remained = new Map<RequestKind, number>();
  /** Until then the API still counts what another process of ours sent, nobody knows how much. */
  #predecessorUntil = Number.NEGATIVE_INFINITY;

  /** The share of the limit to leave free, parts per million. */
  headroomPpm(now: number): Ppm {
    return now - this.#seenAt < sharedForMs ? sharedPpm : alonePpm;
  }

  /** The API said 429 although we had room. */
  throttled(now: number): void {
    if (now >= this.#predecessorUntil) this.#seenAt = now;
  }

  /** When something else was last seen to use the key; -Infinity: never. */
  get seenAt(): number {
    return this.#seenAt;
  }

  /** Another process of ours sent under the key until now, and saw something else use it at `seenAt`. */
  takeOver(seenAt: number, now: number): void {
    this.#seenAt = Math.max(this.#seenAt, seenAt);
    this.#predecessorUntil = now + windowMs;
  }

  /** A request of ours was sent. */
  sent(): void {
    this.#underWay += 1;
  }

  /** Its answer came, or will never come. */
  ended(now: number): void {
    this.#underWay -= 1;
    this.#answeredAt.add(now);
    this.#answeredAt.forgetUntil(now - windowMs - longestRequestMs);
  }

  /**
   * An answer to a request that was sent at `startedAt` said how much of the limit remains. Of ours the API counts at most
   * those whose answers came later than a minute before that, and those under way: whatever else it counted was not ours. A
   * number that repeats the one before may be no count at all. A bucket that holds a part of the limit, or that fills
   * again, may show nothing: there the first 429 does.
   */
  remains({ kind, limit, remaining, startedAt }: Reading, now: number): void {
    const before = this.#remained.get(kind);
    this.#remained.set(kind, remaining);
    if (before === undefined || before === remaining) return;
    this.#mostRemaining = Math.max(this.#mostRemaining, remaining);
    if (this.#mostRemaining < limit / 2 || startedAt < this.#predecessorUntil) return;
    const ours = this.#answeredAt.countAfter(startedAt - windowMs) + this.#underWay;
    if (limit - remaining > ours + tolerated) this.#seenAt = now;
  }

  /** The same key under other settings: what was seen, and what the API still counts. */
  follow(earlier: Sharing): void {
    this.#seenAt = earlier.#seenAt;
    this.#answeredAt = earlier.#answeredAt.copy();
    this.#mostRemaining = earlier.#mostRemaining;
    this.#predecessorUntil = earlier.#predecessorUntil;
  }
}

interface Reading {
  /** Purpose of the request. */
  readonly kind: RequestKind;
  /** Requests a minute. */
  readonly limit: number;
  readonly remaining: number;
  readonly startedAt: number;
}
