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
