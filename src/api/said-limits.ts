// The limits that answers say (X-RateLimit-Limit), kind by kind of request, and which of them is the key's. A header may speak of
// one route, or of an address, and its unit is not stated (docs/faults.md T9). Pure.
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
