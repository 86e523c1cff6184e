// The limits that answers say (X-RateLimit-Limit), kind by kind of request, and which of them is the key's. A header may speak of
// one route, or of an address, and its unit is not stated (docs/faults.md T9). Pure.

import type { Ppm } from '../core/policy.ts';
import { hourMs, minuteMs } from '../core/time.ts';
import type { RequestKind } from './interpret.ts';

/** An answer that is older says nothing about the key's limit any more. */
const countsForMs = hourMs;

interface Saying {
  /** Requests a minute; null: a success without the header. */
  readonly limit: number | null;
  readonly at: number;
}

/** A limit of some kinds of requests, which they share. */
export interface OwnLimit {
  /** Requests a minute. */
  readonly limit: number;
  readonly kinds: readonly RequestKind[];
}

/** Health is asked without the key: what it says is about itself. */
const isKeyless = (kind: RequestKind) => kind === 'health';

/** Times are milliseconds of the monotonic clock. */
export class SaidLimits {
  readonly #planLimit: number;
  readonly #said = new Map<RequestKind, Saying>();
  #ofKey: number;
  readonly #own = new Map<RequestKind, OwnLimit>();
  #summedAt = Number.NEGATIVE_INFINITY;

  constructor(planLimit: number) {
    this.#planLimit = planLimit;
    this.#ofKey = planLimit;
  }

  /** Takes over the key's limit of an earlier process. It counts until two kinds of requests agree on another. */
  inherit(limit: number): void {
    this.#ofKey = Math.min(this.#planLimit, limit);
  }

  /** Notes the limit in an answer. A kind keeps its last limit, because not every answer carries the header. */
  note(kind: RequestKind, limit: number | null, now: number): void {
    const before = this.#said.get(kind);
    const saying = { limit: limit ?? before?.limit ?? null, at: now };
    this.#said.set(kind, saying);
    if (before?.limit !== saying.limit || now - this.#summedAt >= minuteMs) this.#sum(now);
  }

  /** The key's limit: the highest that two kinds of requests with the key said lately. One without the header says the plan's. */
  get ofKey(): number {
    return this.#ofKey;
  }

  /** The limit of that kind where it is not the key's. */
  own(kind: RequestKind): OwnLimit | undefined {
    return this.#own.get(kind);
  }

  #sum(now: number): void {
    this.#summedAt = now;
    const withKey = [...this.#said].filter(([kind]) => !isKeyless(kind));
    const lately = withKey.filter(([, { at }]) => now - at < countsForMs);
    const limits = lately.map(([, { limit }]) => Math.min(this.#planLimit, limit ?? this.#planLimit));
    limits.sort((a, b) => b - a);
    this.#ofKey = limits.find((limit, index) => limits[index + 1] === limit) ?? this.#ofKey;
    this.#own.clear();
    const ofHealth = this.#said.get('health')?.limit ?? null;
    if (ofHealth !== null) this.#own.set('health', { limit: ofHealth, kinds: ['health'] });
    // The first kind that is asked may speak for the key: the second shows it at once.
    if (withKey.length < 2) return;
    for (const [limit, sayings] of Map.groupBy(withKey, ([, said]) => said.limit)) {
      if (limit === null || limit >= this.#ofKey) continue;
      const own = { limit, kinds: sayings.map(([kind]) => kind) };
      for (const kind of own.kinds) this.#own.set(kind, own);
    }
  }
}

// Whether something else uses the key, as far as the API's answers show it, and what is left free for it then. Pure.

/** Left free where nothing else uses the key: with less, requests that arrive late meet a full window (docs/performance.md). */
const alonePpm: Ppm = 30_000;
/** Left free for as long as something else uses the key. */
const sharedPpm: Ppm = 100_000;
/** A key counts as shared for so long after the last sign of it. */
const sharedForMs = 24 * hourMs;
/** No request takes longer (api/http/exchange.ts), its second try included. */
const longestRequestMs = 90_000;
/** A count may be one off: an API may count a request that broke off twice. */
const tolerated = 1;

/** Times are milliseconds of the monotonic clock. */
export class Sharing {
  #seenAt = Number.NEGATIVE_INFINITY;
  #underWay = 0;
  /** When our answers came. */
  #answeredAt: number[] = [];
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
    this.#predecessorUntil = now + minuteMs;
  }

  /** A request of ours was sent. */
  sent(): void {
    this.#underWay += 1;
  }

  /** Its answer came, or will never come. */
  ended(now: number): void {
    this.#underWay -= 1;
    this.#answeredAt = [...this.#answeredAt.filter((at) => at > now - minuteMs - longestRequestMs), now];
  }

  /**
   * An answer to a request that was sent at `startedAt` said how much of the limit remains. Of ours the API counts at most
   * those whose answers came later than a minute before that, and those under way: whatever else it counted was not ours. A
   * number that repeats the one before may be no count at all. A bucket that holds a part of the limit, or that fills
   * again, may show nothing: there the first 429 does.
   */
  remains({ kind, limit, remaining, startedAt }: RemainingReading, now: number): void {
    const before = this.#remained.get(kind);
    this.#remained.set(kind, remaining);
    if (before === undefined || before === remaining) return;
    this.#mostRemaining = Math.max(this.#mostRemaining, remaining);
    if (this.#mostRemaining < limit / 2 || startedAt < this.#predecessorUntil) return;
    const ours = this.#answeredAt.filter((at) => at > startedAt - minuteMs).length + this.#underWay;
    if (limit - remaining > ours + tolerated) this.#seenAt = now;
  }

  /** The same key under other settings: what was seen, and what the API still counts. */
  follow(earlier: Sharing): void {
    this.#seenAt = earlier.#seenAt;
    this.#answeredAt = earlier.#answeredAt;
    this.#mostRemaining = earlier.#mostRemaining;
    this.#predecessorUntil = earlier.#predecessorUntil;
  }
}

interface RemainingReading {
  /** Purpose of the request. */
  readonly kind: RequestKind;
  /** Requests a minute. */
  readonly limit: number;
  readonly remaining: number;
  readonly startedAt: number;
}
