// For how long the API let nothing start lately: after a 429, or when its answers said that no request remains. Pure.

const spanMs = 10 * 60_000;

/** Times are milliseconds of the monotonic clock. */
export class Stops {
  /** Oldest first; they do not overlap. */
  #stops: { readonly from: number; until: number }[] = [];

  /** From now on nothing starts, until that moment. */
  add(now: number, until: number): void {
    const last = this.#stops.at(-1);
    if (last && now <= last.until) last.until = Math.max(last.until, until);
    else this.#stops.push({ from: now, until });
  }

  /**
   * What they leave of the last ten minutes, in steps of a half: 1, 1/2, 1/4... Whoever reports it reports each step, not
   * of each request.
   */
  leave(now: number): number {
    const begin = now - spanMs;
    this.#stops = this.#stops.filter(({ until }) => until > begin);
    const stopped = this.#stops.reduce((sum, { from, until }) => sum + Math.min(until, now) - Math.max(from, begin), 0);
    return 2 ** -Math.floor(Math.log2(spanMs / Math.max(1, spanMs - stopped)));
  }
}
