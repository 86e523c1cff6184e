// A recipe runner without a daemon: the built-in recipes, or a folder's, over a store's file, with runs kept in memory.

import { RecipeCatalogue } from '../../src/recipes/catalogue.ts';
import { usualLimits } from '../../src/recipes/execution.ts';
import { RecipeRunner, type RunnerParts } from '../../src/recipes/runner.ts';
import type { World } from '../../src/world/world.ts';
import { MemoryRuns } from './memory-runs.ts';

export function recipeRunner(
  world: World,
  changes: Partial<RunnerParts> & { readonly folder?: string } = {},
): RecipeRunner {
  const { folder = '/nowhere', ...parts } = changes;
  return new RecipeRunner({
    world,
    catalogue: new RecipeCatalogue(() => folder),
    runs: new MemoryRuns(),
    place: '/nowhere/store.db',
    facts: () => ({ now: world.clock.now(), accounts: [], nearLimitPpm: { usual: 800_000, others: {} } }),
    commandAccess: () => null,
    limits: usualLimits,
    ...parts,
  });
}
