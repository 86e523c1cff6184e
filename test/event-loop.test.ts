// Long works side by side: the event loop turns between any two of their pieces.
import { expect, test } from 'vitest';
import { createPacer, nextTurn } from '../src/world/world.ts';

test('of several long works one piece is done in a turn of the event loop, in the order of asking', async () => {
  let turn = 0;
  let counting = setImmediate(function count() {
    turn += 1;
    counting = setImmediate(count);
  });
  const pieces: number[] = [];
  const pacer = createPacer(0);
  const own = async () => {
    for (let n = 0; n < 5; n += 1) await nextTurn().then(() => pieces.push(turn));
  };
  const paced = async () => {
    for (let n = 0; n < 5; n += 1) await pacer.turn().then(() => pieces.push(turn));
  };
  await Promise.all([own(), paced()]);
  clearImmediate(counting);
  expect(pieces).toEqual(pieces.toSorted((a, b) => a - b));
  expect([pieces.length, new Set(pieces).size]).toEqual([10, 10]);
});
