// A recipe runner without a daemon: the built-in recipes, or a folder's, over a store's file, with runs in a store of their own.

import { hasEnded, type Run, type RunRequest } from '../../src/core/recipe.ts';
import { readCatalogue } from '../../src/recipes/catalogue.ts';
import { usualLimits } from '../../src/recipes/execution.ts';
import { RecipeRunner, type RunnerParts } from '../../src/recipes/runner.ts';
import type { World } from '../../src/world/world.ts';
import { testStore } from '../outbox/test-store.ts';
import { noFacts } from './selected.ts';
import { until } from './until.ts';

export function recipeRunner(
  world: World,
  changes: Partial<RunnerParts> & { readonly folder?: string } = {},
): RecipeRunner {
  const { folder = '/nowhere', runs = testStore().runs, ...parts } = changes;
  return new RecipeRunner({
    world,
    catalogue: () => readCatalogue(folder),
    runs,
    place: '/nowhere/store.db',
    facts: () => ({ ...noFacts, now: world.clock.now(), accounts: [] }),
    commandAccess: () => null,
    limits: usualLimits,
    ...parts,
  });
}

export async function endedRun(runner: RecipeRunner, id: string): Promise<Run> {
  return until(`the end of run ${id}`, async () => {
    const run = await runner.run(id);
    if ('refused' in run) throw new Error(run.said.join(' '));
    return hasEnded(run) ? run : null;
  });
}

/** Starts a run that is expected to be accepted. */
export async function startedRun(runner: RecipeRunner, request: Partial<RunRequest> = {}): Promise<Run> {
  const asked = { recipe: 'at-risk', parameters: {}, apply: false, by: 'a test', role: 'viewer' as const };
  const run = await runner.start({ ...asked, ...request });
  if ('refused' in run) throw new Error(run.said.join(' '));
  return run;
}
