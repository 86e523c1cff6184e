// Ledger of a key: every request, reads and writes, evenly spaced and within limit x (1 - headroom). `belief` explains
// the limit in use.

import type { Ppm } from '../core/policy.ts';
import type { BudgetLedger } from '../core/records.ts';
import type { Clock } from '../world/world.ts';
import type { RequestKind } from './answers.ts';
import { type OwnLimit, SaidLimits, Sharing } from './limits.ts';
import { Throttle } from './throttle.ts';

const windowMs = 60_000;
/**
 * A start that was late by up to this share of the gap does not delay the next. Lateness would otherwise add up to
 * unused requests.
 */
const latenessShare = 0.25;

export interface BudgetOptions {
  /** Limit of the plan, requests a minute. */
  readonly requestsPerMinute: number;
  /**
   * Share of the limit that is left to the user's other tools, parts per million, or null to leave as much as they
   * appear to need.
   */
  readonly headroomPpm: Ppm | null;
}

/** Limit headers of an answer. */
export interface LimitHeaders {
  /** Purpose of the request. */
  readonly kind: RequestKind;
  /** Requests a minute. */
  readonly limit: number | null;
  readonly remaining: number | null;
  /** Start of the request. */
  readonly startedAt: number;
  /**
   * True if the request succeeded. A success without a limit means that the route has none; a failure may come from a
   * gateway.
   */
  readonly succeeded: boolean;
}

/** Limits in requests a minute, from the configured one down to the expected one. */
export interface Belief {
  readonly configured: number;
  /**
   * The key's limit: the value in answers to two kinds of requests with the key (X-RateLimit-Limit), at most the
   * configured limit.
   */
  readonly limit: number;
  /**
   * Allowed requests: the limit less the headroom, and less the temporary reductions after 429s (Throttle). At least
   * one.
   */
  readonly allowed: number;
  /**
   * Expected requests: fewer than allowed if recent 429s stopped all requests for a part of the time (Throttle). At
   * least one.
   */
  readonly expected: number;
  /** True if `expected` is less than half of the configured limit less the headroom. */
  readonly isSlow: boolean;
}

/** All times are milliseconds of the monotonic clock. */
export class Budget {
  readonly #planLimit: number;
  readonly #said: SaidLimits;
  /** Starts of the last 60 s, oldest first. */
  #starts: number[] = [];
  /** Due time of the last start. The start itself was slightly later, because a timer is never early. */
  #pacedAt = Number.NEGATIVE_INFINITY;
  readonly #throttle = new Throttle();
  readonly #sharing = new Sharing();
  /** Last start of each kind of request. */
  readonly #startedAt = new Map<RequestKind, number>();
  readonly #configuredPpm: Ppm | null;
  #headroomPpm: Ppm;
  #share = 1;

  constructor(options: BudgetOptions) {
    this.#configuredPpm = options.headroomPpm;
    this.#headroomPpm = options.headroomPpm ?? this.#sharing.headroomPpm(0);
    this.#planLimit = options.requestsPerMinute;
    this.#said = new SaidLimits(options.requestsPerMinute);
  }

  /**
   * Returns the ledger for the next budget of the key, after a reload or a restart. `shiftMs`: difference of the wall clock to the monotonic
   * clock.
   */
  ledger(now: number, shiftMs: number): BudgetLedger {
    const { seenAt } = this.#sharing;
    return {
      limit: this.#said.ofKey,
      starts: this.#starts.map((at) => at + shiftMs),
      sharedAt: Number.isFinite(seenAt) ? seenAt + shiftMs : null,
      restraint: this.#throttle.ledger(now, shiftMs),
    };
  }

  /**
   * Takes over from the budget of the key until now. `ledger`: its last record, or null if there is none. Requests after
   * that record are unknown: the first start waits for one gap, and for a minute its requests cannot be told from a
   * stranger's.
   */
  takeOver(ledger: BudgetLedger | null, now: number, shiftMs: number): void {
    this.#pacedAt = now;
    const { sharedAt = null } = ledger ?? {};
    this.#sharing.takeOver(sharedAt === null ? Number.NEGATIVE_INFINITY : Math.min(now, sharedAt - shiftMs), now);
    if (!ledger) return;
    const { limit, starts, restraint } = ledger;
    this.#throttle.takeOver(restraint, now, shiftMs);
    this.#starts = [...this.#starts, ...starts.map((at) => Math.min(now, at - shiftMs))];
    this.#said.inherit(limit);
  }

  /** Share of the limit that is left to others, parts per million. */
  get headroomPpm(): Ppm {
    return this.#headroomPpm;
  }

  belief(now: number): Belief {
    this.#forget(now);
    const expected = Math.max(1, Math.floor(this.allowedPerMinute * this.#throttle.left(now)));
    return {
      configured: this.#planLimit,
      limit: this.#said.ofKey,
      allowed: this.allowedPerMinute,
      expected,
      isSlow: 2 * expected < this.#lessHeadroom(this.#planLimit),
    };
  }

  /** The key's limit, requests a minute. */
  get limitPerMinute(): number {
    return this.#said.ofKey;
  }

  /** Requests a minute that we may make, at least one. */
  get allowedPerMinute(): number {
    return this.#lessHeadroom(this.#said.ofKey * this.#share);
  }

  #lessHeadroom(limit: number): number {
    return Math.max(1, Math.floor((limit * (1_000_000 - this.#headroomPpm)) / 1_000_000));
  }

  /** Returns the limit of a kind of request, alone or with others, or undefined if only the key's limit applies. */
  ownLimit(kind: RequestKind): OwnLimit | undefined {
    return this.#said.own(kind);
  }

  /**
   * Returns the earliest start of a request of that kind, by the kind's own limits alone. A time in the past means now.
   */
  opensAt(kind: RequestKind): number {
    const own = this.#said.own(kind);
    const stoppedUntil = this.#throttle.kindUntil(kind);
    if (!own) return stoppedUntil;
    const last = Math.max(...own.kinds.map((one) => this.#startedAt.get(one) ?? Number.NEGATIVE_INFINITY));
    return Math.max(stoppedUntil, last + (windowMs * 1_000_000) / (own.limit * (1_000_000 - this.#headroomPpm)));
  }

  /** Returns the earliest start of the next request. A time in the past means now. */
  nextStartAt(now: number): number {
    this.#forget(now);
    const spaced = this.#pacedAt + this.#gapMs;
    const oldest = this.#starts[this.#starts.length - this.allowedPerMinute];
    const freed = oldest === undefined ? now : oldest + windowMs;
    return Math.max(spaced, freed, this.#throttle.keyUntil);
  }

  /** True if no request starts for a while, because the API asked for that or fails. */
  isStopped(now: number): boolean {
    return now < this.#throttle.keyUntil;
  }

  /** Records the start of a request. */
  started(now: number, kind: RequestKind): void {
    this.#forget(now);
    this.#starts.push(now);
    this.#startedAt.set(kind, now);
    const lateMs = now - (this.#pacedAt + this.#gapMs);
    this.#pacedAt = lateMs > 0 && lateMs <= this.#gapMs * latenessShare ? now - lateMs : now;
  }

  /** Gap between two starts, milliseconds. */
  get #gapMs(): number {
    return windowMs / this.allowedPerMinute;
  }

  /** Records that a request was sent, at its start time or later. */
  sent(): void {
    this.#sharing.sent();
  }

  /** Records that the answer to a request came, or will never come. */
  ended(now: number): void {
    this.#sharing.ended(now);
  }

  /** Records a 429: see Throttle. */
  throttled(kind: RequestKind, retryAfterMs: number | null, now: number, random: () => number): void {
    const startedAt = this.#startedAt.get(kind) ?? now;
    const own = this.#said.own(kind);
    if (this.#throttle.throttled({ kind, retryAfterMs, startedAt, own }, now, random)) this.#sharing.throttled(now);
  }

  /** True if the API answered 429 to two kinds of requests since the last answered read. */
  get refusesAll(): boolean {
    return this.#throttle.refusesAll;
  }

  /**
   * Times of the 429s of the last hour that came despite the ledger, oldest first. Another program uses the key, or the
   * plan is smaller.
   */
  throttledAt(now: number): readonly number[] {
    return this.#throttle.throttledAt(now);
  }

  /** Records an answer of the API, whatever its status. */
  answered(): void {
    this.#throttle.answered();
  }

  /** Records a missing answer or a 5xx: see Throttle. */
  failed(now: number, random: () => number, asked?: { readonly kind: RequestKind; readonly ms: number }): void {
    this.#throttle.failed(now, random, asked);
  }

  /**
   * Applies the X-RateLimit-* headers. They can only tighten the limit, as there is no header for the reset
   * (docs/faults.md T9). A remainder of 0 stops nothing: the answer that says so was a success, or a 429.
   */
  noteLimits({ kind, remaining, startedAt, succeeded, ...headers }: LimitHeaders, now: number): void {
    if (succeeded) this.#throttle.succeeded(kind, now);
    const limit = headers.limit !== null && headers.limit >= 1 ? headers.limit : null;
    if (limit !== null || succeeded) this.#said.note(kind, limit, now);
    if (limit === null || remaining === null || kind === 'health' || this.#said.own(kind)) return;
    this.#sharing.remains({ kind, limit, remaining, startedAt }, now);
  }

  #forget(now: number): void {
    this.#share = this.#throttle.share(now);
    this.#headroomPpm = this.#configuredPpm ?? this.#sharing.headroomPpm(now);
    this.#starts = this.#starts.filter((start) => start > now - windowMs);
  }
}

/**
 * Resolves when a request may start, and counts it. For commands, which have no queue of polls; another caller may take
 * a slot first.
 */
export async function takeSlot(budget: Budget, kind: RequestKind, clock: Clock): Promise<void> {
  for (;;) {
    const now = clock.monotonic();
    const startAt = budget.nextStartAt(now);
    if (startAt <= now) return budget.started(now, kind);
    await clock.sleep(startAt - now);
  }
}
