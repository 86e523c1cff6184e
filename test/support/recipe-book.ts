// Recipes without a daemon: the built-in ones, or a folder's, over a store's file, with runs kept in memory.
import { type BookParts, RecipeBook } from '../../src/recipes/book.ts';
import { MemoryRuns } from '../../src/recipes/memory-runs.ts';
import { usualLimits } from '../../src/recipes/run.ts';
import { Shelf } from '../../src/recipes/shelf.ts';
import type { World } from '../../src/world.ts';

export function bookOf(world: World, changes: Partial<BookParts> & { readonly folder?: string } = {}): RecipeBook {
  const { folder = '/nowhere', ...parts } = changes;
  return new RecipeBook({
    world,
    shelf: new Shelf(() => folder),
    runs: new MemoryRuns(),
    storePath: '/nowhere/store.db',
    facts: () => ({ now: world.clock.now(), accounts: [], nearLimitPpm: { usual: 800_000, others: {} } }),
    handling: () => null,
    limits: usualLimits,
    ...parts,
  });
}
