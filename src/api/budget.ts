// Ledger of a key: all requests within limit x (1 - headroom), evenly spaced, or four at once after as many gaps, so that
// the process wakes up a quarter as often.
import type { Ppm } from '../core/policy.ts';
import type { BudgetLedger } from '../core/records.ts';
import { secondMs } from '../core/time.ts';
import type { Clock } from '../world/world.ts';
import type { RequestKind } from './answers.ts';
import { type OwnLimit, SaidLimits } from './limits.ts';
import { Throttle } from './throttle.ts';

const windowMs = 60_000;
const latenessShare = 0.25;
const batchSize = 4;
/** Minimum limit for batches, in requests a minute. */
const batchesFromLimit = 200;
/** Minimum X-RateLimit-Remaining for a batch: as many requests may have left since that answer. */
const batchesFromRemaining = 2 * batchSize;

export interface BudgetOptions {
  readonly requestsPerMinute: number;
  readonly headroomPpm: Ppm;
}

export interface LimitHeaders {
  readonly kind: RequestKind;
  /** Requests a minute. */
  readonly limit: number | null;
  /** Requests that the API would still accept at once. */
  readonly remaining: number | null;
  /** A success without a limit means that the route has none; a failure may come from a gateway. */
  readonly succeeded: boolean;
}

/** Limits in requests a minute, from the configured one down to the expected one. */
export interface Belief {
  readonly configured: number;
  /** The key's limit: X-RateLimit-Limit in answers to two kinds of requests, at most the configured limit. */
  readonly limit: number;
  /** The limit less the headroom and the temporary reductions after 429s (Throttle), at least one. */
  readonly allowed: number;
  /** Fewer than allowed if recent 429s stopped all requests for a part of the time (Throttle), at least one. */
  readonly expected: number;
  /** True if `expected` is less than half of the configured limit less the headroom. */
  readonly isSlow: boolean;
}

/** All times are milliseconds of the monotonic clock. */
export class Budget {
  readonly headroomPpm: Ppm;
  readonly throttle = new Throttle();
  readonly #planLimit: number;
  readonly #said: SaidLimits;
  /** Starts of the last 60 s, oldest first. */
  #starts: number[] = [];
  #lastAt = Number.NEGATIVE_INFINITY;
  readonly #pace = new Pace(latenessShare);
  /** X-RateLimit-Remaining of the last answer under the key's limit, or 0 if it had none. */
  #remaining = 0;
  readonly #startedAt = new Map<RequestKind, number>();
  #share = 1;

  constructor(options: BudgetOptions) {
    this.headroomPpm = options.headroomPpm;
    this.#planLimit = options.requestsPerMinute;
    this.#said = new SaidLimits(options.requestsPerMinute);
  }

  /** Returns the ledger for the key's next budget. `shiftMs`: difference of the wall clock to the monotonic clock. */
  ledger(now: number, shiftMs: number): BudgetLedger {
    return {
      at: now + shiftMs,
      limit: this.#said.ofKey,
      starts: this.#starts.map((at) => at + shiftMs),
      restraint: this.throttle.ledger(now, shiftMs),
    };
  }

  /**
   * Takes over the last record of the key's previous budget, if there is one. Requests after that record are unknown:
   * the first start waits for one gap.
   */
  takeOver(ledger: BudgetLedger | null, now: number, shiftMs: number): void {
    if (ledger) this.#inherit(ledger, now, shiftMs);
    this.#forget(now);
    this.#lastAt = now;
    this.#pace.started(now, this.#gapMs, 1);
  }

  #inherit(ledger: BudgetLedger, now: number, shiftMs: number): void {
    // A record from the future means that the clock was set back: it counts as made now.
    const backMs = Math.max(shiftMs, ledger.at - now);
    const { limit, starts, restraint } = ledger;
    this.throttle.takeOver(restraint, now, backMs);
    this.#starts = [...this.#starts, ...starts.map((at) => Math.min(now, at - backMs))];
    this.#said.inherit(limit);
  }

  belief(now: number): Belief {
    this.#forget(now);
    const expected = Math.max(1, Math.floor(this.allowedPerMinute * this.throttle.left(now)));
    return {
      configured: this.#planLimit,
      limit: this.#said.ofKey,
      allowed: this.allowedPerMinute,
      expected,
      isSlow: 2 * expected < this.#lessHeadroom(this.#planLimit),
    };
  }

  get limitPerMinute(): number {
    return this.#said.ofKey;
  }

  get allowedPerMinute(): number {
    return this.#lessHeadroom(this.#said.ofKey * this.#share);
  }

  #lessHeadroom(limit: number): number {
    return Math.max(1, Math.floor((limit * (1_000_000 - this.headroomPpm)) / 1_000_000));
  }

  /** Returns the limit of a kind, alone or with others, or undefined if only the key's limit applies. */
  ownLimit(kind: RequestKind): OwnLimit | undefined {
    return this.#said.own(kind);
  }

  /** Returns the earliest start by the kind's own limits alone. A time in the past means now. */
  opensAt(kind: RequestKind): number {
    const own = this.#said.own(kind);
    const stoppedUntil = this.throttle.kindUntil(kind);
    if (!own) return stoppedUntil;
    const last = Math.max(...own.kinds.map((one) => this.#startedAt.get(one) ?? Number.NEGATIVE_INFINITY));
    return Math.max(stoppedUntil, last + (windowMs * 1_000_000) / (own.limit * (1_000_000 - this.headroomPpm)));
  }

  /** Next start of a single request: one gap after the last start, which may have been a batch. A time in the past means now. */
  nextStartAt(now: number): number {
    return Math.max(this.#openAt(now), Math.min(this.#pace.paidAt, this.#lastAt + this.#gapMs));
  }

  /** Next start of a request that may belong to a batch. A time in the past means now. */
  nextBatchAt(now: number): number {
    return Math.max(this.#openAt(now), this.#pace.nextAt);
  }

  /** Number of requests that may start at once if they then wait for as many gaps. */
  atOnce(now: number): number {
    const isSafe = this.#remaining >= batchesFromRemaining && now >= this.throttle.batchesFrom;
    return isSafe && this.#said.ofKey >= batchesFromLimit ? batchSize : 1;
  }

  /** Next start by the requests of the last minute and the key's waits. */
  #openAt(now: number): number {
    this.#forget(now);
    const oldest = this.#starts[this.#starts.length - this.allowedPerMinute];
    const freed = oldest === undefined ? now : oldest + windowMs;
    return Math.max(freed, this.throttle.keyUntil);
  }

  started(now: number, kind: RequestKind): void {
    this.#forget(now);
    this.#starts.push(now);
    this.#startedAt.set(kind, now);
    this.#lastAt = now;
    this.#pace.started(now, this.#gapMs, this.atOnce(now));
  }

  get #gapMs(): number {
    return windowMs / this.allowedPerMinute;
  }

  throttled(kind: RequestKind, retryAfterMs: number | null, now: number, random: () => number): void {
    const startedAt = this.#startedAt.get(kind) ?? now;
    const own = this.#said.own(kind);
    this.throttle.throttled({ kind, retryAfterMs, startedAt, own }, now, random);
  }

  /**
   * Applies the X-RateLimit-* headers, which can only tighten the limit: none names the reset (docs/faults.md T9).
   * A remainder of 0 stops only batches: the answer that says so was a success, or a 429.
   */
  noteLimits({ kind, limit: said, remaining, succeeded }: LimitHeaders, now: number): void {
    if (succeeded) this.throttle.succeeded(kind, now);
    const limit = said !== null && said >= 1 ? said : null;
    if (limit !== null || succeeded) this.#said.note(kind, limit, now);
    if (!this.#said.own(kind)) this.#remaining = remaining ?? 0;
  }

  #forget(now: number): void {
    this.#share = this.throttle.share(now);
    const isOld = (start: number | undefined) => start !== undefined && start <= now - windowMs;
    while (isOld(this.#starts[0])) this.#starts.shift();
  }
}

/** Longest wait for the limits of a kind alone. A poll that waits longer would count as hanging. */
const longestKindWaitMs = 20 * secondMs;

/** Counts the next possible start as taken, and waits for it, or until `signal` aborts. */
export function takeSlot(budget: Budget, kind: RequestKind, clock: Clock, signal?: AbortSignal): Promise<void> {
  const now = clock.monotonic();
  const kindOpensAt = Math.min(budget.opensAt(kind), now + longestKindWaitMs);
  const startAt = Math.max(now, budget.nextStartAt(now), kindOpensAt);
  budget.started(startAt, kind);
  return clock.sleep(startAt - now, signal);
}

// Spaces starts evenly, or in batches that start at once, with the same number of starts over time.

/** All times are milliseconds of the monotonic clock. */
export class Pace {
  readonly #latenessShare: number;
  /** End of the gaps of all starts. */
  #paidAt = Number.NEGATIVE_INFINITY;
  /** Starts that the last batch still has. */
  #left = 0;

  /** A start that was late by at most this share of the gap does not delay the next, or lateness would add up. */
  constructor(latenessShare: number) {
    this.#latenessShare = latenessShare;
  }

  /** Next start of a batch, or of the rest of one. A time in the past means now. */
  get nextAt(): number {
    return this.#left > 0 ? Number.NEGATIVE_INFINITY : this.#paidAt;
  }

  /** Time from which no start is ahead of its gap. */
  get paidAt(): number {
    return this.#paidAt;
  }

  started(now: number, gapMs: number, atOnce: number): void {
    const lateMs = now - this.#paidAt;
    this.#left = lateMs >= 0 ? atOnce - 1 : Math.max(0, this.#left - 1);
    this.#paidAt = (lateMs <= gapMs * this.#latenessShare ? this.#paidAt : now) + gapMs;
  }
}
