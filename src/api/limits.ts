// Limits in answers (X-RateLimit-Limit) by kind of request, and the key's limit among them. A header may concern one
// route or one IP address, and its unit is not stated (docs/faults.md T9).

import { hourMs } from '../core/time.ts';
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

/** Times are milliseconds of the monotonic clock. */
export class SaidLimits {
  readonly #planLimit: number;
  readonly #said = new Map<RequestKind, Saying>();
  #ofKey: number;
  readonly #own = new Map<RequestKind, OwnLimit>();

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
    this.#said.set(kind, { limit: limit ?? this.#said.get(kind)?.limit ?? null, at: now });
    this.#compare(now);
  }

  /** Highest limit on which recent answers to two kinds agree, at most the plan's. A success without the header counts as the plan's. */
  get ofKey(): number {
    return this.#ofKey;
  }

  /** Returns undefined if the kind has the key's limit, or none is known yet. */
  own(kind: RequestKind): OwnLimit | undefined {
    return this.#own.get(kind);
  }

  #compare(now: number): void {
    // Health is requested without the key: its limit concerns only itself.
    const withKey = [...this.#said].filter(([kind]) => kind !== 'health');
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
