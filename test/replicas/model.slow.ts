// The protocol of several replicas in every state that one fault leads to, and in random histories with three. A fault: a
// crash, a freeze or a sleep of any length within any step, a clock that jumps, a lost POST, answer or COMMIT reply, an outage.
import { expect, test } from 'vitest';
import { search, walk } from './model.ts';
import { plantedFaults } from './planted.ts';

test('no fault leads to a second intent, a second holder, a lost command or an unguarded mailbox', () => {
  const { states, violation } = search(1, null);
  expect(violation).toBeNull();
  expect(states).toBeGreaterThan(100_000);
});

test.each(plantedFaults)('a replica that %s is found', (planted) => {
  expect(search(1, planted).violation).not.toBeNull();
});

test('nor do three faults, in 20,000 random histories', () => {
  let seed = 20_261_122;
  const random = () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return seed / 2 ** 31;
  };
  const met = Array.from({ length: 20_000 }, () => walk(3, 400, random));
  expect(met.filter((violation) => violation !== null)).toEqual([]);
});
