// Limits in answers (X-RateLimit-Limit) by kind of request, and the key's limit among them. A header may concern one
// route or one IP address, and its unit is not stated (docs/faults.md T9).

import type { Ppm } from '../core/policy.ts';
import { hourMs, minuteMs } from '../core/time.ts';
import type { RequestKind } from './answers.ts';

/** Older answers do not count for the key's limit. */
const countsForMs = hourMs;

interface Saying {
  /** Requests a minute, or null for a success without the header. */
  readonly limit: number | null;
  readonly at: number;
}

/** A limit that some kinds of requests share. */
export interface OwnLimit {
  /** Requests a minute. */
  readonly limit: number;
  readonly kinds: readonly RequestKind[];
}

/** Health is requested without the key: its limit concerns only itself. */
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

  /** The key's limit of an earlier process counts until two kinds of requests agree on another. */
  inherit(limit: number): void {
    this.#ofKey = Math.min(this.#planLimit, limit);
  }

  /** A kind keeps its last limit, because not every answer carries the header. */
  note(kind: RequestKind, limit: number | null, now: number): void {
    const before = this.#said.get(kind);
    const saying = { limit: limit ?? before?.limit ?? null, at: now };
    this.#said.set(kind, saying);
    if (before?.limit !== saying.limit || now - this.#summedAt >= minuteMs) this.#sum(now);
  }

  /** Highest limit in recent answers to two kinds with the key. A success without the header counts as the plan's. */
  get ofKey(): number {
    return this.#ofKey;
  }

  /** Returns undefined if the kind has the key's limit. */
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
    // The limit of the first kind may be the key's. The second kind shows at once whether it is.
    if (withKey.length < 2) return;
    for (const [limit, sayings] of Map.groupBy(withKey, ([, said]) => said.limit)) {
      if (limit === null || limit >= this.#ofKey) continue;
      const own = { limit, kinds: sayings.map(([kind]) => kind) };
      for (const kind of own.kinds) this.#own.set(kind, own);
    }
  }
}

// Other users of the key, as far as the API's answers show them.

/**
 * Headroom for one user of the key. Requests that arrive late would meet a full window with less (docs/performance.md).
 */
const alonePpm: Ppm = 30_000;
const sharedPpm: Ppm = 100_000;
/** Time after the last sign of another user for which the key counts as shared. */
const sharedForMs = 24 * hourMs;
/** Longest duration of a request (api/http/exchange.ts), including its retry. */
const longestRequestMs = 90_000;
/** Tolerated excess of a count. An API may count a broken request twice. */
const tolerated = 1;

/** Times are milliseconds of the monotonic clock. */
export class Sharing {
  #seenAt = Number.NEGATIVE_INFINITY;
  #underWay = 0;
  #answeredAt: number[] = [];
  #mostRemaining = 0;
  readonly #remained = new Map<RequestKind, number>();
  /** Time until which the API still counts an unknown number of requests of our previous process. */
  #predecessorUntil = Number.NEGATIVE_INFINITY;

  headroomPpm(now: number): Ppm {
    return now - this.#seenAt < sharedForMs ? sharedPpm : alonePpm;
  }

  /** Records a 429 that came although we had room. */
  throttled(now: number): void {
    if (now >= this.#predecessorUntil) this.#seenAt = now;
  }

  /** Last time that another user of the key was seen, or -Infinity if none was. */
  get seenAt(): number {
    return this.#seenAt;
  }

  /** Takes over from another process of ours. */
  takeOver(seenAt: number, now: number): void {
    this.#seenAt = Math.max(this.#seenAt, seenAt);
    this.#predecessorUntil = now + minuteMs;
  }

  sent(): void {
    this.#underWay += 1;
  }

  /** Records that the answer came, or will never come. */
  ended(now: number): void {
    this.#underWay -= 1;
    this.#answeredAt = [...this.#answeredAt.filter((at) => at > now - minuteMs - longestRequestMs), now];
  }

  /**
   * Our share of the count is at most the answers since a minute before `startedAt`, plus the requests in progress.
   * More were not ours. A number that repeats may be no count at all. A bucket of a part of the limit, or one that
   * refills, may show nothing: then the first 429 reveals the other user.
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
}

interface RemainingReading {
  readonly kind: RequestKind;
  /** Requests a minute. */
  readonly limit: number;
  readonly remaining: number;
  readonly startedAt: number;
}
