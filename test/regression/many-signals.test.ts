// Hundreds of SIGHUPs, as a script sends them that reloads after each file, were as many reloads one after the other.
import { expect, test } from 'vitest';
import { oneWaiting } from '../../src/commands/run/signals.ts';
import { nextTurn } from '../../src/world.ts';

test('what is asked for while it goes on is done once more', async () => {
  const under: (() => void)[] = [];
  let begun = 0;
  const ask = oneWaiting(() => {
    begun += 1;
    return new Promise<void>((resolve) => under.push(resolve));
  });
  const end = async () => {
    under.shift()?.();
    await nextTurn();
  };
  for (let asked = 0; asked < 100; asked += 1) ask();
  expect(begun).toBe(1);
  await end();
  expect(begun).toBe(2);
  await end();
  expect(begun).toBe(2);
  ask();
  expect(begun).toBe(3);
  await end();
});
