// What was started ends in reverse order, scope by scope; a start that fails leaves nothing of itself behind.
import { expect, test } from 'vitest';
import { Teardowns } from '../src/world/loop.ts';
import { createLog, systemClock } from '../src/world/world.ts';

const log = createLog({ level: 'silent', format: 'json' }, systemClock());

/** Parts that write down when they end. */
function noting(ended: string[]) {
  return (teardowns: Teardowns, name: string) =>
    teardowns.add(name, async () => {
      ended.push(name);
    });
}

test('the last that was started ends first, and a scope ends as one', async () => {
  const ended: string[] = [];
  const add = noting(ended);
  const teardowns = new Teardowns(log);
  add(teardowns, 'store');
  await teardowns.scope(async (scope) => {
    add(scope, 'notifier');
    add(scope, 'accounts');
  });
  add(teardowns, 'socket');
  await teardowns.takeDown();
  expect(ended).toEqual(['socket', 'accounts', 'notifier', 'store']);
  await teardowns.takeDown();
  expect(ended).toHaveLength(4);
});

test('a scope that can’t be started ends what it had started, and nothing else', async () => {
  const ended: string[] = [];
  const add = noting(ended);
  const teardowns = new Teardowns(log);
  add(teardowns, 'store');
  const refused = teardowns.scope(async (scope) => {
    add(scope, 'recipes');
    throw new Error('the address is in use');
  });
  await expect(refused).rejects.toThrow('the address is in use');
  expect(ended).toEqual(['recipes']);
  await teardowns.takeDown();
  expect(ended).toEqual(['recipes', 'store']);
});

test('a part that fails to end keeps none of the others from ending', async () => {
  const ended: string[] = [];
  const add = noting(ended);
  const teardowns = new Teardowns(log);
  add(teardowns, 'store');
  await teardowns.scope(async (scope) => {
    add(scope, 'notifier');
    scope.add('accounts', () => Promise.reject(new Error('hangs')));
  });
  await teardowns.takeDown();
  expect(ended).toEqual(['notifier', 'store']);
});
