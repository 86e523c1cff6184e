// Work in turns: one after the other, and never so long that nothing else of the process gets a turn.
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Turns } from '../../src/account/commit/group-commit.ts';
import { movedClock } from '../../tools/simulator/moved-clock.ts';

const busyFor = (ms: number) => {
  for (const until = performance.now() + ms; performance.now() < until; );
};

test('a row of works that never wait leaves the event loop its turns, in order, while a moved clock stands still', async () => {
  const clock = movedClock(0);
  const turns = new Turns(clock);
  const done: number[] = [];
  const others = { count: 0, over: false };
  let turnsOfOthers = 0;
  const counting = (async () => {
    for (; !others.over; others.count += 1) await turn();
  })();
  const works = Array.from({ length: 40 }, (_, index) =>
    turns.take(async () => {
      busyFor(5);
      done.push(index);
      turnsOfOthers = others.count;
    }),
  );
  await clock.advance(1);
  expect(done).toHaveLength(40);
  others.over = true;
  await Promise.all([...works, counting]);
  expect(done).toEqual(done.toSorted((a, b) => a - b));
  // 200 ms in slices of 25.
  expect(turnsOfOthers).toBeGreaterThan(4);
});
