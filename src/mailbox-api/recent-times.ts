// Moments that are remembered for a while, oldest first, at a cost that does not grow with their number. Pure.

/** Times are milliseconds of the monotonic clock, and are added in their order. */
export class RecentTimes {
  #times: number[] = [];
  /** Where those begin that are not forgotten. */
  #head = 0;

  get length(): number {
    return this.#times.length - this.#head;
  }

  /** Counted from the oldest, which is 0. undefined: there is none. */
  at(index: number): number | undefined {
    return index < 0 ? undefined : this.#times[this.#head + index];
  }

  add(time: number): void {
    this.#times.push(time);
  }

  /** How many are later than a moment. */
  countAfter(time: number): number {
    let [low, high] = [this.#head, this.#times.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#times[middle] ?? time) <= time) low = middle + 1;
      else high = middle;
    }
    return this.#times.length - low;
  }

  /** Forgets what is at that moment or before. */
  forgetUntil(time: number): void {
    if ((this.at(0) ?? Number.POSITIVE_INFINITY) > time) return;
    this.#head = this.#times.length - this.countAfter(time);
    if (this.#head <= this.length) return;
    this.#times = this.#times.slice(this.#head);
    this.#head = 0;
  }

  /** The same times, in a memory of its own. */
  copy(): RecentTimes {
    const copy = new RecentTimes();
    copy.#times = this.#times.slice(this.#head);
    return copy;
  }
}
