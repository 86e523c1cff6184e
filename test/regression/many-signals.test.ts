// Hundreds of reloads, as a script asks for them that reloads after each file, were as many one after the other: a person's came last.
import { expect, test } from 'vitest';
import { OneWaiting } from '../../src/daemon/reload/reloader.ts';
import { nextTurn } from '../../src/world/world.ts';

test('what is asked for again and again while it goes on is done once more, and what is asked for otherwise comes next', async () => {
  const begun: { readonly by: string; readonly end: () => void }[] = [];
  const reloads = new OneWaiting(
    ({ by }: { by: string }) => new Promise<string>((resolve) => begun.push({ by, end: () => resolve(by) })),
  );
  const askAll = () => Array.from({ length: 100 }, () => reloads.ask({ by: 'a script' }));
  const endLast = async () => {
    begun.at(-1)?.end();
    await nextTurn();
  };
  const first = reloads.ask({ by: 'a script' });
  await nextTurn();
  const waiting = [...askAll(), reloads.ask({ by: 'a person' }), ...askAll()];
  await endLast();
  await endLast();
  await endLast();
  expect(begun.map(({ by }) => by)).toEqual(['a script', 'a script', 'a person']);
  expect(await first).toBe('a script');
  expect(new Set(await Promise.all(waiting))).toEqual(new Set(['a script', 'a person']));
  await reloads.idle();
  void reloads.ask({ by: 'a script' });
  await nextTurn();
  expect(begun).toHaveLength(4);
});
