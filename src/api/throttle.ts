// What a 429 does, and what failures do that may be throttling in disguise (docs/faults.md H10 to H13). Nothing else remembers them.
//
//   state        begins with                                          ends
//   kind waits   a second 429 of a kind of request, or one of a kind  after Retry-After, else after 1, 2, 4, 8, 15 minutes
//                that has a limit of its own
//   key waits    the first 429 of a kind                              after Retry-After, at most a minute
//                429s of two kinds with no read between them          after Retry-After, else after a minute
//   key pauses   five failures in a row, or a second 503 that says    after up to 30 s, or as long as the 503 says
//                how long
//   key shrinks  each 429 that lets the key wait: by a quarter,       15 minutes after the last of them
//                down to a quarter
import { hourMs, minuteMs } from '../core/time.ts';
import type { RequestKind } from './interpret.ts';
import type { OwnLimit } from './limits.ts';

/** A 429 without Retry-After: until the API's window has passed. */
const withoutRetryAfterMs = minuteMs;
/** The longest wait of a kind that is told no time. */
const longestWaitMs = 15 * minuteMs;
/** Spread of a wait that the server did not name, so that many keys do not come back at once. */
const jitterMs = 5_000;
/** Reads are answered if one was within this time. */
const readLatelyMs = minuteMs;
const shrinkBy = 0.75;
const leastShare = 0.25;
const shrunkForMs = 15 * minuteMs;
/** Failures in a row that are no longer one mailbox's bad luck. */
const failuresUntilPause = 5;
/** Failures in a row after which a Retry-After is obeyed. */
const failuresUntilObeyed = 2;
const firstPauseMs = 1_000;
const longestPauseMs = 30_000;
/** The time whose stops say what can be counted on. */
const countedMs = 10 * minuteMs;

/** Kinds for which a server asks other servers, and is likely to have a limit of its own. */
const isSlowKind = (kind: RequestKind) => kind === 'dns' || kind === 'blacklist';

interface Throttled {
  readonly kind: RequestKind;
  readonly retryAfterMs: number | null;
  /** When the newest request of the kind started. */
  readonly startedAt: number;
  /** The limit that the kind has for itself, or with others. */
  readonly own: OwnLimit | undefined;
}

/** Times are milliseconds of the monotonic clock. */
export class Throttle {
  /** Until when nothing starts, whatever the reason. */
  #keyUntil = 0;
  /** Until when nothing starts because of a 429. */
  #throttledUntil = Number.NEGATIVE_INFINITY;
  readonly #kindUntil = new Map<RequestKind, number>();
  /** The newest 429 of each kind that was not answered as wished since, and how many in a row were about it alone. */
  readonly #limited = new Map<RequestKind, { readonly at: number; readonly times: number }>();
  #refusesAll = false;
  /** When a read with the key was last answered as wished. */
  #readAt = Number.NEGATIVE_INFINITY;
  /** The 429s of the last hour that let the key wait, oldest first, each with the end of the wait. */
  #stops: { readonly at: number; until: number }[] = [];
  #share = 1;
  #failures = 0;
  /** By kind: until when a 503 that said how long is obeyed. */
  readonly #askedUntil = new Map<RequestKind, number>();

  /** Until when nothing starts. */
  get keyUntil(): number {
    return this.#keyUntil;
  }

  /** Until when no request of that kind starts. */
  kindUntil(kind: RequestKind): number {
    return this.#kindUntil.get(kind) ?? Number.NEGATIVE_INFINITY;
  }

  /** Whether the API answered 429 to two kinds of requests since it answered a read. */
  get refusesAll(): boolean {
    return this.#refusesAll;
  }

  /** Moments of the 429s of the last hour that came in spite of the budget, oldest first. */
  throttledAt(now: number): readonly number[] {
    this.#forget(now);
    return this.#stops.map(({ at }) => at);
  }

  /** The share of the budget that may be used, 0.25 to 1. */
  share(now: number): number {
    if (now - (this.#stops.at(-1)?.at ?? Number.NEGATIVE_INFINITY) >= shrunkForMs) this.#share = 1;
    return this.#share;
  }

  /** The share of the last ten minutes that 429s left, in steps of a half (1, 1/2, 1/4, ...), so that not each request reports another. */
  left(now: number): number {
    const begin = now - countedMs;
    const stopped = this.#stops.reduce(
      (sum, { at, until }) => sum + Math.max(0, Math.min(until, now) - Math.max(at, begin)),
      0,
    );
    return 2 ** -Math.floor(Math.log2(countedMs / Math.max(1, countedMs - stopped)));
  }

  /**
   * The API said 429. To a change while reads are answered, it is about that mailbox or about changes: the action waits, and nothing else.
   * Returns whether it came in spite of the budget: somebody else uses the key, or the plan is smaller.
   */
  throttled({ kind, retryAfterMs, startedAt, own }: Throttled, now: number, random: () => number): boolean {
    if (kind === 'warmup_write' && now - this.#readAt <= readLatelyMs && now >= this.#throttledUntil) return false;
    const before = this.#limited.get(kind);
    const isKey = this.#isOfKey(kind);
    const isAlone = own !== undefined || kind === 'health' || (before !== undefined && !isKey);
    const times = isAlone && before ? before.times + 1 : 1;
    const unsaidMs = Math.min(longestWaitMs, withoutRetryAfterMs * 2 ** (times - 1)) + random() * jitterMs;
    const waitMs = retryAfterMs ?? unsaidMs;
    for (const one of own?.kinds ?? [kind]) this.#kindUntil.set(one, now + waitMs);
    // What was under way when the first 429 came says nothing new.
    if (before && startedAt <= before.at) return false;
    this.#limited.set(kind, { at: now, times });
    if (isAlone) return false;
    this.#refusesAll ||= isKey;
    return this.#stopKey(now, now + (isKey ? waitMs : Math.min(waitMs, minuteMs + jitterMs)));
  }

  #stopKey(now: number, until: number): boolean {
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
    return isNew;
  }

  /** Whether a 429 to that kind is about the key: another kind got one since something was read. DNS and blacklist may share a limit. */
  #isOfKey(kind: RequestKind): boolean {
    return [...this.#limited].some(
      ([other, { at }]) => other !== kind && at > this.#readAt && !(isSlowKind(other) && isSlowKind(kind)),
    );
  }

  /** A request succeeded. */
  succeeded(kind: RequestKind, now: number): void {
    this.#limited.delete(kind);
    if (kind === 'health' || kind === 'warmup_write') return;
    this.#readAt = now;
    this.#refusesAll = false;
  }

  /** The API answered, whatever it said. */
  answered(): void {
    this.#failures = 0;
  }

  /** No answer, or a 5xx. `asked`: how long a 503 wants a kind to be left alone; the key is, once that was asked of two kinds. */
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

  /** The same key under other settings. */
  follow(earlier: Throttle): void {
    this.#keyUntil = earlier.#keyUntil;
    this.#throttledUntil = earlier.#throttledUntil;
    for (const [kind, until] of earlier.#kindUntil) this.#kindUntil.set(kind, until);
    this.#stops = earlier.#stops.map((stop) => ({ ...stop }));
    this.#share = earlier.#share;
  }

  /** Goes on where another process left off. */
  takeOver(throttledAt: readonly number[], share: number, keyUntil: number): void {
    this.#stops = [...throttledAt.map((at) => ({ at, until: at })), ...this.#stops];
    this.#share = Math.min(this.#share, share);
    this.#keyUntil = Math.max(this.#keyUntil, keyUntil);
  }

  #forget(now: number): void {
    this.#stops = this.#stops.filter(({ at }) => at > now - hourMs);
  }
}
