// Effects of a 429, and of failures that may be throttling in disguise, on when requests start (docs/faults.md H10 to
// H13).
//
//   state        begins with                                          ends
//   kind waits   each 429 of a kind of request                        after Retry-After; else after a minute, and
//                                                                     after 2, 4, 8, 15 min if the kind alone is refused
//   key waits    the first 429 of a kind without a limit of its own   after Retry-After, at most a minute
//                429s of two kinds with no read between them          after Retry-After, else after a minute
//   key pauses   five failures in a row, or a second 503 that says    after up to 30 s, or as long as the 503 says
//                how long
//   key shrinks  each 429 that lets the key wait: by a quarter,       15 minutes after the last of them
//                down to a quarter
//   no batches   each 429 or 503: requests start one at a time        a day after the last of them
import type { Restraint } from '../core/records.ts';
import { dayMs, hourMs, minuteMs, throttledWaitMs } from '../core/time.ts';
import type { RequestKind } from './answers.ts';
import type { OwnLimit } from './limits.ts';

const longestWaitMs = 15 * minuteMs;
/** Spread of a wait that the server did not name, so that many keys do not come back at once. */
const jitterMs = 5_000;
/** Maximum age of the last answered read for reads to count as answered. */
const readLatelyMs = minuteMs;
const shrinkBy = 0.75;
const leastShare = 0.25;
const shrunkForMs = 15 * minuteMs;
const noBatchesForMs = dayMs;
/** Number of failures in a row that cannot be due to a single mailbox. */
const failuresUntilPause = 5;
/** Number of failures in a row after which a Retry-After is obeyed. */
const failuresUntilObeyed = 2;
const firstPauseMs = 1_000;
const longestPauseMs = 30_000;
/** Maximum length of a stop that a ledger names, as for our own stops (api/http/exchange.ts). */
const longestStopMs = 15 * minuteMs;
/** Period whose stops determine the expected requests. */
const countedMs = 10 * minuteMs;

/** The server queries other servers for these kinds, which are likely to have a limit of their own. */
const isSlowKind = (kind: RequestKind) => kind === 'dns' || kind === 'blacklist';

interface Throttled {
  readonly kind: RequestKind;
  readonly retryAfterMs: number | null;
  readonly startedAt: number;
  readonly own: OwnLimit | undefined;
}

/** Times are milliseconds of the monotonic clock. */
export class Throttle {
  #keyUntil = 0;
  /** Time until which no request starts because of a 429. */
  #throttledUntil = Number.NEGATIVE_INFINITY;
  readonly #kindUntil = new Map<RequestKind, number>();
  /** Newest 429 of each kind that has not succeeded since; `times`: consecutive 429s that concerned the kind alone. */
  readonly #limited = new Map<RequestKind, { readonly at: number; readonly times: number }>();
  #refusesAll = false;
  #readAt = Number.NEGATIVE_INFINITY;
  /** 429s of the last hour that stopped the key, oldest first. */
  #stops: { readonly at: number; until: number }[] = [];
  #share = 1;
  #batchesFrom = 0;
  #failures = 0;
  /** Time until which a 503 with Retry-After is obeyed. */
  readonly #askedUntil = new Map<RequestKind, number>();

  /** Time until which no request starts, because the API asked for that or fails. */
  get keyUntil(): number {
    return this.#keyUntil;
  }

  kindUntil(kind: RequestKind): number {
    return this.#kindUntil.get(kind) ?? Number.NEGATIVE_INFINITY;
  }

  /** Time from which several requests may start at once. */
  get batchesFrom(): number {
    return this.#batchesFrom;
  }

  /** A gateway may have refused a batch, with 429 or 503. */
  stopBatches(now: number): void {
    this.#batchesFrom = now + noBatchesForMs;
  }

  /** True if the API answered 429 to two kinds of requests since the last answered read. */
  get refusesAll(): boolean {
    return this.#refusesAll;
  }

  /** Times of the last hour's 429s despite the budget, oldest first. */
  throttledAt(now: number): readonly number[] {
    this.#forget(now);
    return this.#stops.map(({ at }) => at);
  }

  /** Share of the budget that may be used, 0.25 to 1. */
  share(now: number): number {
    if (now - (this.#stops.at(-1)?.at ?? Number.NEGATIVE_INFINITY) >= shrunkForMs) this.#share = 1;
    return this.#share;
  }

  /** Share of the last ten minutes without stops, in powers of a half, so that it does not change with each request. */
  left(now: number): number {
    const begin = now - countedMs;
    const stopped = this.#stops.reduce(
      (sum, { at, until }) => sum + Math.max(0, Math.min(until, now) - Math.max(at, begin)),
      0,
    );
    return 2 ** -Math.floor(Math.log2(countedMs / Math.max(1, countedMs - stopped)));
  }

  /** A 429 to a change while reads are answered concerns that mailbox or all changes: only the action waits. */
  throttled({ kind, retryAfterMs, startedAt, own }: Throttled, now: number, random: () => number): void {
    this.stopBatches(now);
    if (kind === 'warmup_write' && now - this.#readAt <= readLatelyMs && now >= this.#throttledUntil) return;
    const before = this.#limited.get(kind);
    const isKey = this.#isOfKey(kind);
    const isAlone = own !== undefined || kind === 'health' || (before !== undefined && !isKey);
    // Requests that were in progress at the first 429 give no new information.
    const isKnown = before !== undefined && startedAt <= before.at;
    const times = isAlone && before && !isKnown ? before.times + 1 : (before?.times ?? 1);
    const unsaidMs = Math.min(longestWaitMs, throttledWaitMs * 2 ** (times - 1)) + random() * jitterMs;
    const waitMs = retryAfterMs ?? unsaidMs;
    for (const one of own?.kinds ?? [kind])
      this.#kindUntil.set(one, Math.max(this.#kindUntil.get(one) ?? 0, now + waitMs));
    if (isKnown) return;
    this.#limited.set(kind, { at: now, times });
    if (isAlone) return;
    this.#refusesAll ||= isKey;
    this.#stopKey(now, now + (isKey ? waitMs : Math.min(waitMs, throttledWaitMs + jitterMs)));
  }

  #stopKey(now: number, until: number): void {
    const isNew = now >= this.#throttledUntil;
    this.#throttledUntil = Math.max(this.#throttledUntil, until);
    this.#keyUntil = Math.max(this.#keyUntil, until);
    const last = this.#stops.at(-1);
    if (!isNew && last) last.until = this.#throttledUntil;
    else {
      this.#share = Math.max(leastShare, this.share(now) * shrinkBy);
      this.#forget(now);
      this.#stops.push({ at: now, until: this.#throttledUntil });
    }
  }

  /** True if another kind got a 429 since the last successful read. DNS and blacklist may share a limit. */
  #isOfKey(kind: RequestKind): boolean {
    return [...this.#limited].some(
      ([other, { at }]) => other !== kind && at > this.#readAt && !(isSlowKind(other) && isSlowKind(kind)),
    );
  }

  succeeded(kind: RequestKind, now: number): void {
    this.#limited.delete(kind);
    if (kind === 'health' || kind === 'warmup_write') return;
    this.#readAt = now;
    this.#refusesAll = false;
  }

  answered(): void {
    this.#failures = 0;
  }

  /** `asked`: wait that a 503 asks for. It applies to the key once two kinds were asked to wait. */
  failed(now: number, random: () => number, asked?: { readonly kind: RequestKind; readonly ms: number }): void {
    this.#failures += 1;
    if (asked && this.#failures >= failuresUntilObeyed) {
      const until = now + asked.ms;
      this.#askedUntil.set(asked.kind, until);
      const others = [...this.#askedUntil].some(([kind, end]) => kind !== asked.kind && end > now);
      if (others) this.#keyUntil = Math.max(this.#keyUntil, until);
      else if (asked.kind !== 'warmup_write') this.#kindUntil.set(asked.kind, until);
    } else if (this.#failures >= failuresUntilPause) {
      const doublings = Math.min(this.#failures - failuresUntilPause, 10);
      const pauseMs = random() * Math.min(longestPauseMs, firstPauseMs * 2 ** doublings);
      this.#keyUntil = Math.max(this.#keyUntil, now + pauseMs);
    }
  }

  /** `shiftMs`: difference of the wall clock to the monotonic one. */
  ledger(now: number, shiftMs: number): Restraint {
    this.#forget(now);
    return {
      keyUntil: this.#keyUntil + shiftMs,
      kindsUntil: Object.fromEntries([...this.#kindUntil].map(([kind, until]) => [kind, until + shiftMs])),
      stops: this.#stops.map(({ at, until }) => ({ at: at + shiftMs, until: until + shiftMs })),
      share: this.share(now),
      batchesFrom: this.#batchesFrom + shiftMs,
    };
  }

  /** No stop is longer than one of our own could be. */
  takeOver({ keyUntil, kindsUntil, stops, share, batchesFrom }: Restraint, now: number, shiftMs: number): void {
    const until = (time: number) => Math.min(now + longestStopMs, time - shiftMs);
    const before = stops.map((stop) => ({ at: Math.min(now, stop.at - shiftMs), until: until(stop.until) }));
    this.#stops = [...before, ...this.#stops];
    this.#share = Math.min(this.#share, share);
    this.#keyUntil = Math.max(this.#keyUntil, until(keyUntil));
    this.#batchesFrom = Math.max(this.#batchesFrom, Math.min(now + noBatchesForMs, batchesFrom - shiftMs));
    for (const [kind, time] of Object.entries(kindsUntil)) this.#kindUntil.set(kind as RequestKind, until(time));
  }

  #forget(now: number): void {
    this.#stops = this.#stops.filter(({ at }) => at > now - hourMs);
  }
}
