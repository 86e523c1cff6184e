// What an account gives up of its budget when the API answers as if it were asked too often. docs/faults.md H12, H13. Pure.

const hourMs = 3_600_000;
/** Somebody shares the key: each 429 takes a quarter of what is left, down to a quarter in all. */
const shrinkBy = 0.75;
const leastShare = 0.25;
/** The whole budget comes back after so long without a 429. */
const shrunkForMs = 15 * 60_000;
/** So many answers in a row that never came, or were a 5xx, are no longer one mailbox's bad luck. */
const failuresUntilPause = 5;
/** Number of failures in a row after which a `Retry-After` stops the whole account. */
const failuresUntilObeyed = 2;
const firstPauseMs = 1_000;
const longestPauseMs = 30_000;

/** Times are milliseconds of the monotonic clock. */
export class Restraint {
  /** When the API said 429 in the last hour, oldest first. */
  #throttledAt: number[] = [];
  #failures = 0;
  #share = 1;

  /** The share of the budget that may be used, 0.25 to 1. */
  share(now: number): number {
    if (now - (this.#throttledAt.at(-1) ?? Number.NEGATIVE_INFINITY) >= shrunkForMs) this.#share = 1;
    return this.#share;
  }

  /** 429s of the last hour, those that came while one was being obeyed left out. */
  throttledLastHour(now: number): number {
    this.#throttledAt = this.#throttledAt.filter((at) => at > now - hourMs);
    return this.#throttledAt.length;
  }

  /** When the API said 429 last; -Infinity: not within the last hour. */
  get throttledAt(): number {
    return this.#throttledAt.at(-1) ?? Number.NEGATIVE_INFINITY;
  }

  /** The API said 429 although the ledger had room. */
  throttled(now: number): void {
    this.#share = Math.max(leastShare, this.share(now) * shrinkBy);
    this.throttledLastHour(now);
    this.#throttledAt.push(now);
  }

  /** When the API said 429 in the last hour, and what that leaves. */
  lately(now: number): { readonly throttledAt: readonly number[]; readonly share: number } {
    this.throttledLastHour(now);
    return { throttledAt: this.#throttledAt, share: this.share(now) };
  }

  /** Another process obeyed these 429s until now. */
  takeOver(throttledAt: readonly number[], share: number): void {
    this.#throttledAt = [...throttledAt, ...this.#throttledAt].sort((a, b) => a - b);
    this.#share = Math.min(this.#share, share);
  }

  /** The API answered, whatever it said. */
  answered(): void {
    this.#failures = 0;
  }

  /**
   * No answer, or a 5xx; the pause in milliseconds that the whole account makes, 0 while it may be chance. `askedMs`: how long the API
   * wants to be left alone; 0: it did not say.
   */
  failed(random: () => number, askedMs = 0): number {
    this.#failures += 1;
    if (askedMs > 0 && this.#failures >= failuresUntilObeyed) return askedMs;
    if (this.#failures < failuresUntilPause) return 0;
    const doublings = Math.min(this.#failures - failuresUntilPause, 10);
    return random() * Math.min(longestPauseMs, firstPauseMs * 2 ** doublings);
  }
}
