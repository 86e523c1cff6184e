// What an account gives up of its budget when the API answers as if it were asked too often. docs/faults.md H12, H13. Pure.
import type { Ppm } from '../core/policy.ts';
import type { RequestKind } from './interpret.ts';

// Moments that are remembered for a while, oldest first, at a cost that does not grow with their number. Pure.

/** Times are milliseconds of the monotonic clock, and are added in their order. */
export class RecentTimes {
  #times: number[] = [];
  /** Where those begin that are not forgotten. */
  #head = 0;

  get length(): number {
    return this.#times.length - this.#head;
  }

  /** Counted from the oldest, which is 0. undefined: there is none. */
  at(index: number): number | undefined {
    return index < 0 ? undefined : this.#times[this.#head + index];
  }

  add(time: number): void {
    this.#times.push(time);
  }

  /** How many are later than a moment. */
  countAfter(time: number): number {
    let [low, high] = [this.#head, this.#times.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#times[middle] ?? time) <= time) low = middle + 1;
      else high = middle;
    }
    return this.#times.length - low;
  }

  /** Forgets what is at that moment or before. */
  forgetUntil(time: number): void {
    if ((this.at(0) ?? Number.POSITIVE_INFINITY) > time) return;
    this.#head = this.#times.length - this.countAfter(time);
    if (this.#head <= this.length) return;
    this.#times = this.#times.slice(this.#head);
    this.#head = 0;
  }

  /** The same times, in a memory of its own. */
  copy(): RecentTimes {
    const copy = new RecentTimes();
    copy.#times = this.#times.slice(this.#head);
    return copy;
  }
}

const hourMs = 3_600_000;
/** Somebody shares the key: each 429 takes a quarter of what is left, down to a quarter in all. */
const shrinkBy = 0.75;
const leastShare = 0.25;
/** The whole budget comes back after so long without a 429. */
const shrunkForMs = 15 * 60_000;
/** So many answers in a row that never came, or were a 5xx, are no longer one mailbox's bad luck. */
const failuresUntilPause = 5;
/** Number of failures in a row after which a `Retry-After` stops the whole account. */
const failuresUntilObeyed = 2;
const firstPauseMs = 1_000;
const longestPauseMs = 30_000;

/** Times are milliseconds of the monotonic clock. */
export class Restraint {
  /** When the API said 429 in the last hour, oldest first. */
  #throttledAt: number[] = [];
  #failures = 0;
  #share = 1;

  /** The share of the budget that may be used, 0.25 to 1. */
  share(now: number): number {
    if (now - (this.#throttledAt.at(-1) ?? Number.NEGATIVE_INFINITY) >= shrunkForMs) this.#share = 1;
    return this.#share;
  }

  /** 429s of the last hour, those that came while one was being obeyed left out. */
  throttledLastHour(now: number): number {
    this.#throttledAt = this.#throttledAt.filter((at) => at > now - hourMs);
    return this.#throttledAt.length;
  }

  /** When the API said 429 last; -Infinity: not within the last hour. */
  get throttledAt(): number {
    return this.#throttledAt.at(-1) ?? Number.NEGATIVE_INFINITY;
  }

  /** The API said 429 although the ledger had room. */
  throttled(now: number): void {
    this.#share = Math.max(leastShare, this.share(now) * shrinkBy);
    this.throttledLastHour(now);
    this.#throttledAt.push(now);
  }

  /** When the API said 429 in the last hour, and what that leaves. */
  lately(now: number): { readonly throttledAt: readonly number[]; readonly share: number } {
    this.throttledLastHour(now);
    return { throttledAt: this.#throttledAt, share: this.share(now) };
  }

  /** Another process obeyed these 429s until now. */
  takeOver(throttledAt: readonly number[], share: number): void {
    this.#throttledAt = [...throttledAt, ...this.#throttledAt].sort((a, b) => a - b);
    this.#share = Math.min(this.#share, share);
  }

  /** The API answered, whatever it said. */
  answered(): void {
    this.#failures = 0;
  }

  /**
   * No answer, or a 5xx; the pause in milliseconds that the whole account makes, 0 while it may be chance. `askedMs`: how long the API
   * wants to be left alone; 0: it did not say.
   */
  failed(random: () => number, askedMs = 0): number {
    this.#failures += 1;
    if (askedMs > 0 && this.#failures >= failuresUntilObeyed) return askedMs;
    if (this.#failures < failuresUntilPause) return 0;
    const doublings = Math.min(this.#failures - failuresUntilPause, 10);
    return random() * Math.min(longestPauseMs, firstPauseMs * 2 ** doublings);
  }
}

// Whether something else uses the key, as far as the API's answers show it, and what is left free for it then. Pure.

/** Left free where nothing else uses the key: with less, requests that arrive late meet a full window (docs/performance.md). */
const alonePpm: Ppm = 30_000;
/** Left free for as long as something else uses the key. */
const sharedPpm: Ppm = 100_000;
/** A key counts as shared for so long after the last sign of it. */
const sharedForMs = 24 * 3_600_000;
const windowMs = 60_000;
/** No request takes longer (api/http/exchange.ts), its second try included. */
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

// For how long the API let nothing start lately: after a 429, or when its answers said that no request remains. Pure.

const spanMs = 10 * 60_000;

/** Times are milliseconds of the monotonic clock. */
export class Stops {
  /** Oldest first; they do not overlap. */
  #stops: { readonly from: number; until: number }[] = [];

  /** From now on nothing starts, until that moment. */
  add(now: number, until: number): void {
    const last = this.#stops.at(-1);
    if (last && now <= last.until) last.until = Math.max(last.until, until);
    else this.#stops.push({ from: now, until });
  }

  /**
   * What they leave of the last ten minutes, in steps of a half: 1, 1/2, 1/4... Whoever reports it reports each step, not
   * of each request.
   */
  leave(now: number): number {
    const begin = now - spanMs;
    this.#stops = this.#stops.filter(({ until }) => until > begin);
    const stopped = this.#stops.reduce((sum, { from, until }) => sum + Math.min(until, now) - Math.max(from, begin), 0);
    return 2 ** -Math.floor(Math.log2(spanMs / Math.max(1, spanMs - stopped)));
  }
}
