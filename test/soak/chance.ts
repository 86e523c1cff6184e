// Chance that follows from a seed, for a soak that can be played again.

export interface Chance {
  /** From 0 to less than `end`. */
  below(end: number): number;
  pick<Item>(items: readonly Item[]): Item;
}

/** mulberry32: a small generator whose numbers follow from the seed. */
export function chanceFrom(seed: number): Chance {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    below: (end) => next() * end,
    pick(items) {
      const item = items[Math.floor(next() * items.length)];
      if (item === undefined) throw new Error('there is nothing to pick from');
      return item;
    },
  };
}

/** Faults of the API for reads, and answers of a receiver that fails. 0 cuts the connection. */
export const readFaults = 'service-unavailable bad-gateway reset truncated empty-body error-with-200 throttled'.split(
  ' ',
);
export const failures = [500, 429, 0];
