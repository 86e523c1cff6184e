// Seeded chance for the simulation: the same seed gives the same mailbox on every machine.

/** A number in [0, 1). */
export type Chance = () => number;

/** Mulberry32: 32 bits of state, good enough for counting bounces, and fast. */
export function seededChance(seed: number): Chance {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A seed out of words and numbers (FNV-1a). */
export function seedOf(...parts: readonly (string | number)[]): number {
  let hash = 0x811c9dc5;
  for (const character of parts.join('/')) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  return hash >>> 0;
}

/** How many of `trials` come true, each with the same probability. */
export function binomial(chance: Chance, trials: number, probability: number): number {
  let count = 0;
  for (let trial = 0; trial < trials; trial += 1) if (chance() < probability) count += 1;
  return count;
}
