// Ledger of a key: every request, reads and writes, evenly spaced and within limit x (1 - headroom). `belief` says which limit
// it goes by, and why.
import type { BudgetLedger } from '../core/ledger.ts';
import type { Ppm } from '../core/policy.ts';
import type { RequestKind } from './interpret.ts';
import { RecentTimes, Restraint, Sharing, Stops } from './restraint.ts';
import { type OwnLimit, SaidLimits } from './said-limits.ts';

const windowMs = 60_000;
/** A stop that another process wrote down is not longer than those of its own (api/http/exchange.ts). */
const longestStopMs = 15 * windowMs;
const withoutRetryAfterMs = windowMs;
/** What is read is answered: a GET was within this time. */
const readLatelyMs = windowMs;
/** Kinds for which a server asks other servers, and is likely to have a limit of its own. */
const isSlowKind = (kind: RequestKind) => kind === 'dns' || kind === 'blacklist';
/** Spread of a wait that the server did not name, so that many keys do not come back at once. */
const jitterMs = 5_000;
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
  /** May be made: the limit less the headroom, and less what 429s take away for a while (Restraint). At least one. */
  readonly allowed: number;
  /** Can be counted on: less than allowed where 429s lately let nothing start for a part of the time (Stops). At least one. */
  readonly expected: number;
  /** That is less than half of what the configuration allows, less the headroom. */
  readonly isSlow: boolean;
}

/** All times are milliseconds of the monotonic clock. */
export class Budget {
  readonly #planLimit: number;
  readonly #said: SaidLimits;
  /** Starts of the last 60 s, oldest first. */
  #starts = new RecentTimes();
  /** When the last start was due: it was a little later than that, for a timer is never early. */
  #pacedAt = Number.NEGATIVE_INFINITY;
  #stoppedUntil = 0;
  /** When a GET with the key was last answered as wished. */
  #readAt = Number.NEGATIVE_INFINITY;
  /** By kind: until when a 503 that said how long is obeyed. */
  readonly #askedUntil = new Map<RequestKind, number>();
  /** Until when nothing starts because of a 429. */
  #throttledUntil = Number.NEGATIVE_INFINITY;
  #refusesAll = false;
  /** The newest 429 of each kind that was not answered as wished since, and how many it got in a row that were about it alone. */
  readonly #limited = new Map<RequestKind, { readonly at: number; readonly times: number }>();
  readonly #restraint = new Restraint();
  readonly #sharing = new Sharing();
  /** Those that the API asked for. */
  #stops = new Stops();
  /** When the last request of a kind started, and until when a 429 that is about it alone is obeyed. */
  #startedAt = new Map<RequestKind, number>();
  #kindStoppedUntil = new Map<RequestKind, number>();
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
    this.#starts = earlier.#starts.copy();
    this.#pacedAt = earlier.#pacedAt;
    this.#stoppedUntil = earlier.#stoppedUntil;
    this.#sharing.follow(earlier.#sharing);
    this.#stops = earlier.#stops;
    this.#startedAt = earlier.#startedAt;
    this.#kindStoppedUntil = earlier.#kindStoppedUntil;
  }

  /** For whoever sends under the key next. `shiftMs`: what the wall clock is ahead of the monotonic one. */
  ledger(now: number, shiftMs: number): BudgetLedger {
    const starts = Array.from({ length: this.#starts.length }, (_, index) => (this.#starts.at(index) ?? 0) + shiftMs);
    const { throttledAt, share } = this.#restraint.lately(now);
    const { seenAt } = this.#sharing;
    return {
      ...{ limit: this.#said.ofKey, starts, stoppedUntil: this.#stoppedUntil + shiftMs },
      sharedAt: Number.isFinite(seenAt) ? seenAt + shiftMs : null,
      restraint: { throttledAt: throttledAt.map((at) => at + shiftMs), share },
    };
  }

  /**
   * Another process sent under the key until now: `ledger` is what it wrote down last; null: nothing. What it started after
   * that is not known, so the first start is one spacing away, and for a minute nothing tells its requests from a stranger's.
   */
  takeOver(ledger: BudgetLedger | null, now: number, shiftMs: number): void {
    this.#pacedAt = now;
    const { sharedAt = null, restraint } = ledger ?? {};
    this.#sharing.takeOver(sharedAt === null ? Number.NEGATIVE_INFINITY : Math.min(now, sharedAt - shiftMs), now);
    if (!ledger) return;
    if (restraint) {
      const throttledAt = restraint.throttledAt.map((at) => Math.min(now, at - shiftMs));
      this.#restraint.takeOver(throttledAt, restraint.share);
    }
    for (const start of ledger.starts) this.#starts.add(Math.min(now, start - shiftMs));
    this.#said.inherit(ledger.limit);
    this.#stoppedUntil = Math.min(now + longestStopMs, Math.max(this.#stoppedUntil, ledger.stoppedUntil - shiftMs));
  }

  /** Share of the limit that is left to others, parts per million. */
  get headroomPpm(): Ppm {
    return this.#headroomPpm;
  }

  belief(now: number): Belief {
    this.#forget(now);
    const expected = Math.max(1, Math.floor(this.allowedPerMinute * this.#stops.leave(now)));
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
    const stoppedUntil = this.#kindStoppedUntil.get(kind) ?? Number.NEGATIVE_INFINITY;
    if (!own) return stoppedUntil;
    const last = Math.max(...own.kinds.map((one) => this.#startedAt.get(one) ?? Number.NEGATIVE_INFINITY));
    return Math.max(stoppedUntil, last + (windowMs * 1_000_000) / (own.limit * (1_000_000 - this.#headroomPpm)));
  }

  /** When the next request may start; in the past when it may start now. */
  nextStartAt(now: number): number {
    this.#forget(now);
    const spaced = this.#pacedAt + this.#gapMs;
    const oldest = this.#starts.at(this.#starts.length - this.allowedPerMinute);
    const freed = oldest === undefined ? now : oldest + windowMs;
    return Math.max(spaced, freed, this.#stoppedUntil);
  }

  /** Whether nothing starts at all for a while, because the API asked for that or fails. */
  isStopped(now: number): boolean {
    return now < this.#stoppedUntil;
  }

  /** A request starts. */
  started(now: number, kind: RequestKind): void {
    this.#forget(now);
    this.#starts.add(now);
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

  /**
   * The API said 429. To a change while reads are answered, it is about that mailbox or about changes: the action waits, and nothing else.
   * The first one of another kind of request stops everything for a minute. The next one of the same kind is about that kind alone, which
   * waits. When two kinds get one, and nothing was read between, it is about the key: nothing starts for as long as Retry-After says.
   */
  throttled(kind: RequestKind, retryAfterMs: number | null, now: number, random: () => number): void {
    if (kind === 'warmup_write' && now - this.#readAt <= readLatelyMs && now >= this.#throttledUntil) return;
    const own = this.#said.own(kind);
    const before = this.#limited.get(kind);
    const isKey = this.#isOfKey(kind);
    const isAlone = own !== undefined || kind === 'health' || (before !== undefined && !isKey);
    const times = isAlone && before ? before.times + 1 : 1;
    const unsaidMs = Math.min(longestStopMs, withoutRetryAfterMs * 2 ** (times - 1)) + random() * jitterMs;
    const wait = retryAfterMs ?? unsaidMs;
    for (const one of own?.kinds ?? [kind]) this.#kindStoppedUntil.set(one, now + wait);
    // What was under way when the first 429 came says nothing new.
    if (before && (this.#startedAt.get(kind) ?? now) <= before.at) return;
    this.#limited.set(kind, { at: now, times });
    if (isAlone) return;
    if (now >= this.#throttledUntil) {
      this.#restraint.throttled(now);
      this.#sharing.throttled(now);
    }
    this.#refusesAll ||= isKey;
    this.#throttledUntil = Math.max(this.#throttledUntil, now + (isKey ? wait : Math.min(wait, windowMs + jitterMs)));
    this.#stopUntil(this.#throttledUntil, now);
  }

  /** Whether a 429 to that kind is about the key: another kind got one since something was read. DNS and blacklist may share a limit. */
  #isOfKey(kind: RequestKind): boolean {
    for (const [other, { at }] of this.#limited)
      if (other !== kind && at > this.#readAt && !(isSlowKind(other) && isSlowKind(kind))) return true;
    return false;
  }

  /** Whether the API answered 429 to two kinds of requests since it answered a read. */
  get refusesAll(): boolean {
    return this.#refusesAll;
  }

  /** When the API last said 429 in spite of the ledger; -Infinity: not within the last hour. */
  get throttledAt(): number {
    return this.#restraint.throttledAt;
  }

  #stopUntil(until: number, now: number): void {
    this.#stoppedUntil = Math.max(this.#stoppedUntil, until);
    this.#stops.add(now, until);
  }

  /** 429s of the last hour that came in spite of the ledger: somebody else uses the key, or the plan is smaller. */
  throttledLastHour(now: number): number {
    return this.#restraint.throttledLastHour(now);
  }

  /** The API answered, whatever it said. */
  answered(): void {
    this.#restraint.answered();
  }

  /** No answer came, or a 5xx: after several in a row the whole account pauses for a moment (docs/faults.md H13). */
  failed(now: number, random: () => number, asked?: { readonly kind: RequestKind; readonly ms: number }): void {
    const pauseMs = this.#restraint.failed(random, asked?.ms);
    if (pauseMs === 0) return;
    if (!asked) this.#stoppedUntil = Math.max(this.#stoppedUntil, now + pauseMs);
    else this.#leaveAlone(asked.kind, now + pauseMs, now);
  }

  /** A kind of request is left alone; all are, once the API has asked that of two kinds. */
  #leaveAlone(kind: RequestKind, until: number, now: number): void {
    this.#askedUntil.set(kind, until);
    const others = [...this.#askedUntil].filter(([one, end]) => one !== kind && end > now);
    if (others.length > 0) this.#stopUntil(until, now);
    else if (kind !== 'warmup_write') this.#kindStoppedUntil.set(kind, until);
  }

  /**
   * What X-RateLimit-* said. It can only tighten: there is no header for the reset (docs/faults.md T9). That nothing remains
   * stops nothing: the answer that says so was a success, or else a 429.
   */
  noteLimits({ kind, remaining, startedAt, succeeded, ...headers }: LimitHeaders, now: number): void {
    if (succeeded) this.#limited.delete(kind);
    if (succeeded && kind !== 'health' && kind !== 'warmup_write') {
      this.#readAt = now;
      this.#refusesAll = false;
    }
    const limit = headers.limit !== null && headers.limit >= 1 ? headers.limit : null;
    if (limit !== null || succeeded) this.#said.note(kind, limit, now);
    if (limit === null || remaining === null || kind === 'health' || this.#said.own(kind)) return;
    this.#sharing.remains({ kind, limit, remaining, startedAt }, now);
  }

  #forget(now: number): void {
    this.#share = this.#restraint.share(now);
    this.#headroomPpm = this.#configuredPpm ?? this.#sharing.headroomPpm(now);
    this.#starts.forgetUntil(now - windowMs);
  }
}
