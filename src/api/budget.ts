// Ledger of a key: every request, reads and writes, evenly spaced and within limit x (1 - headroom). `belief` says which limit
// it goes by, and why.
import type { BudgetLedger } from '../core/ledger.ts';
import type { Ppm } from '../core/policy.ts';
import type { Clock } from '../world/world.ts';
import type { RequestKind } from './interpret.ts';
import { type OwnLimit, SaidLimits, Sharing } from './limits.ts';
import { Throttle } from './throttle.ts';

const windowMs = 60_000;
/** A stop that another process wrote down is not longer than those of its own (api/http/exchange.ts). */
const longestStopMs = 15 * windowMs;
/** A start that was late by up to this share of the gap does not delay the next: lateness would add up to unused requests. */
const latenessShare = 0.25;

export interface BudgetOptions {
  /** The plan's limit, requests a minute. */
  readonly requestsPerMinute: number;
  /** Share of it that is left to the user's other tools, parts per million; null: as much as they are seen to need. */
  readonly headroomPpm: Ppm | null;
}

/** What an answer said of the limit. */
export interface LimitHeaders {
  /** Purpose of the request. */
  readonly kind: RequestKind;
  /** Requests a minute. */
  readonly limit: number | null;
  readonly remaining: number | null;
  /** When the request was sent. */
  readonly startedAt: number;
  /** Whether the request succeeded. A success without a limit means that the route has none; a failure may come from a gateway. */
  readonly succeeded: boolean;
}

/** The limit in requests a minute: from the configured one down to the number that can be counted on. */
export interface Belief {
  readonly configured: number;
  /** The key's limit: what two kinds of requests with the key were told (X-RateLimit-Limit), at most what is configured. */
  readonly limit: number;
  /** May be made: the limit less the headroom, and less what 429s take away for a while (Throttle). At least one. */
  readonly allowed: number;
  /** Can be counted on: less than allowed where 429s lately let nothing start for a part of the time (Throttle). At least one. */
  readonly expected: number;
  /** That is less than half of what the configuration allows, less the headroom. */
  readonly isSlow: boolean;
}

/** All times are milliseconds of the monotonic clock. */
export class Budget {
  readonly #planLimit: number;
  readonly #said: SaidLimits;
  /** Starts of the last 60 s, oldest first. */
  #starts: number[] = [];
  /** When the last start was due: it was a little later than that, for a timer is never early. */
  #pacedAt = Number.NEGATIVE_INFINITY;
  readonly #throttle = new Throttle();
  readonly #sharing = new Sharing();
  /** When the last request of a kind started. */
  #startedAt = new Map<RequestKind, number>();
  readonly #configuredPpm: Ppm | null;
  #headroomPpm: Ppm;
  #share = 1;

  constructor(options: BudgetOptions) {
    this.#configuredPpm = options.headroomPpm;
    this.#headroomPpm = options.headroomPpm ?? this.#sharing.headroomPpm(0);
    this.#planLimit = options.requestsPerMinute;
    this.#said = new SaidLimits(options.requestsPerMinute);
  }

  /** The same key under other settings: what was spent under the earlier ones still counts. */
  follow(earlier: Budget): void {
    this.#starts = earlier.#starts;
    this.#pacedAt = earlier.#pacedAt;
    this.#throttle.follow(earlier.#throttle);
    this.#sharing.follow(earlier.#sharing);
    this.#startedAt = earlier.#startedAt;
  }

  /** For whoever sends under the key next. `shiftMs`: what the wall clock is ahead of the monotonic one. */
  ledger(now: number, shiftMs: number): BudgetLedger {
    const { seenAt } = this.#sharing;
    const shifted = (times: readonly number[]) => times.map((at) => at + shiftMs);
    const throttledAt = shifted(this.#throttle.throttledAt(now));
    return {
      limit: this.#said.ofKey,
      starts: shifted(this.#starts),
      stoppedUntil: this.#throttle.keyUntil + shiftMs,
      sharedAt: Number.isFinite(seenAt) ? seenAt + shiftMs : null,
      restraint: { throttledAt, share: this.#throttle.share(now) },
    };
  }

  /**
   * Another process sent under the key until now: `ledger` is what it wrote down last; null: nothing. What it started after
   * that is not known, so the first start is one spacing away, and for a minute nothing tells its requests from a stranger's.
   */
  takeOver(ledger: BudgetLedger | null, now: number, shiftMs: number): void {
    this.#pacedAt = now;
    const { sharedAt = null } = ledger ?? {};
    this.#sharing.takeOver(sharedAt === null ? Number.NEGATIVE_INFINITY : Math.min(now, sharedAt - shiftMs), now);
    if (!ledger) return;
    const { limit, starts, stoppedUntil, restraint = { throttledAt: [], share: 1 } } = ledger;
    const until = (times: readonly number[]) => times.map((at) => Math.min(now, at - shiftMs));
    const keyUntil = Math.min(now + longestStopMs, stoppedUntil - shiftMs);
    this.#throttle.takeOver(until(restraint.throttledAt), restraint.share, keyUntil);
    this.#starts = [...this.#starts, ...until(starts)];
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

  /** Requests a minute that we allow ourselves: at least one. */
  get allowedPerMinute(): number {
    return this.#lessHeadroom(this.#said.ofKey * this.#share);
  }

  #lessHeadroom(limit: number): number {
    return Math.max(1, Math.floor((limit * (1_000_000 - this.#headroomPpm)) / 1_000_000));
  }

  /** The limit that a kind of request has for itself, or with others; undefined: only the key's. */
  ownLimit(kind: RequestKind): OwnLimit | undefined {
    return this.#said.own(kind);
  }

  /** When a request of that kind may start, as far as it is about that kind alone; in the past when it may start now. */
  opensAt(kind: RequestKind): number {
    const own = this.#said.own(kind);
    const stoppedUntil = this.#throttle.kindUntil(kind);
    if (!own) return stoppedUntil;
    const last = Math.max(...own.kinds.map((one) => this.#startedAt.get(one) ?? Number.NEGATIVE_INFINITY));
    return Math.max(stoppedUntil, last + (windowMs * 1_000_000) / (own.limit * (1_000_000 - this.#headroomPpm)));
  }

  /** When the next request may start; in the past when it may start now. */
  nextStartAt(now: number): number {
    this.#forget(now);
    const spaced = this.#pacedAt + this.#gapMs;
    const oldest = this.#starts[this.#starts.length - this.allowedPerMinute];
    const freed = oldest === undefined ? now : oldest + windowMs;
    return Math.max(spaced, freed, this.#throttle.keyUntil);
  }

  /** Whether nothing starts at all for a while, because the API asked for that or fails. */
  isStopped(now: number): boolean {
    return now < this.#throttle.keyUntil;
  }

  /** A request starts. */
  started(now: number, kind: RequestKind): void {
    this.#forget(now);
    this.#starts.push(now);
    this.#startedAt.set(kind, now);
    const lateMs = now - (this.#pacedAt + this.#gapMs);
    this.#pacedAt = lateMs > 0 && lateMs <= this.#gapMs * latenessShare ? now - lateMs : now;
  }

  /** Between two starts, milliseconds. */
  get #gapMs(): number {
    return windowMs / this.allowedPerMinute;
  }

  /** A request was sent, at the start that it was given or later. */
  sent(): void {
    this.#sharing.sent();
  }

  /** Its answer came, or will never come. */
  ended(now: number): void {
    this.#sharing.ended(now);
  }

  /** The API said 429: see Throttle. */
  throttled(kind: RequestKind, retryAfterMs: number | null, now: number, random: () => number): void {
    const startedAt = this.#startedAt.get(kind) ?? now;
    const own = this.#said.own(kind);
    if (this.#throttle.throttled({ kind, retryAfterMs, startedAt, own }, now, random)) this.#sharing.throttled(now);
  }

  /** Whether the API answered 429 to two kinds of requests since it answered a read. */
  get refusesAll(): boolean {
    return this.#throttle.refusesAll;
  }

  /** 429s of the last hour that came in spite of the ledger: somebody else uses the key, or the plan is smaller. Oldest first. */
  throttledAt(now: number): readonly number[] {
    return this.#throttle.throttledAt(now);
  }

  /** The API answered, whatever it said. */
  answered(): void {
    this.#throttle.answered();
  }

  /** No answer came, or a 5xx: see Throttle. */
  failed(now: number, random: () => number, asked?: { readonly kind: RequestKind; readonly ms: number }): void {
    this.#throttle.failed(now, random, asked);
  }

  /**
   * What X-RateLimit-* said. It can only tighten: there is no header for the reset (docs/faults.md T9). That nothing remains
   * stops nothing: the answer that says so was a success, or else a 429.
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

/** Resolves when a request may start, and counts it: for commands, which have no queue of polls. Somebody else may use a slot first. */
export async function takeSlot(budget: Budget, kind: RequestKind, clock: Clock): Promise<void> {
  for (;;) {
    const now = clock.monotonic();
    const startAt = budget.nextStartAt(now);
    if (startAt <= now) return budget.started(now, kind);
    await clock.sleep(startAt - now);
  }
}
