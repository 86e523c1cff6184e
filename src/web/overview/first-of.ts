// The first of many in an order: what comes behind them is compared once and let go.
import TinyQueue from 'tinyqueue';

/** As for Array.sort. */
export type Order<Item> = (a: Item, b: Item) => number;

/** The first `count` (at least one) of the items that are put in, without sorting the others. */
export class FirstOf<Item> {
  readonly #order: Order<Item>;
  readonly #count: number;
  /** The last of them comes out first. */
  readonly #kept: TinyQueue<Item>;
  #total = 0;

  constructor(order: Order<Item>, count: number) {
    this.#order = order;
    this.#count = count;
    this.#kept = new TinyQueue([], (a, b) => order(b, a));
  }

  /** How many were put in. */
  get total(): number {
    return this.#total;
  }

  put(item: Item): void {
    this.#total += 1;
    const last = this.#kept.length < this.#count ? undefined : this.#kept.peek();
    if (last !== undefined && this.#order(item, last) >= 0) return;
    if (last !== undefined) this.#kept.pop();
    this.#kept.push(item);
  }

  /** Takes those behind the first `skipped` out, in their order. */
  take(skipped = 0): readonly Item[] {
    const taken: Item[] = [];
    while (this.#kept.length > skipped) {
      const next = this.#kept.pop();
      if (next !== undefined) taken.push(next);
    }
    return taken.reverse();
  }
}
