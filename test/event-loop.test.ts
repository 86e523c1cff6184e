// Long works side by side: the event loop turns between any two of their pieces.
import { expect, test } from 'vitest';
import { ownTurn } from '../src/event-loop.ts';
import { createPacer, inTurns } from '../src/world.ts';

test('of several long works one piece is done in a turn of the event loop', async () => {
  let turn = 0;
  let counting = setImmediate(function count() {
    turn += 1;
    counting = setImmediate(count);
  });
  const pieces: number[] = [];
  const pacer = createPacer(0);
  const own = async () => {
    for (let n = 0; n < 5; n += 1) await ownTurn().then(() => pieces.push(turn));
  };
  const paced = async () => {
    for (let n = 0; n < 5; n += 1) await pacer.turn().then(() => pieces.push(turn));
  };
  const listed = async () => {
    await ownTurn();
    await inTurns(Array.from({ length: 1_000 }), () => pieces.push(turn));
  };
  await Promise.all([own(), paced(), listed()]);
  clearImmediate(counting);
  expect(pieces).toHaveLength(14);
  expect(new Set(pieces).size).toBe(14);
});
