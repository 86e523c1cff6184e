// Recipes over a store without its daemon: read-only, their runs kept in this process only.
import type { Places } from '../../config/places.ts';
import { defaultPolicy } from '../../core/policy.ts';
import type { RecipeService } from '../../core/recipe.ts';
import { hourMs, minuteMs } from '../../core/time.ts';
import { RecipeCatalogue } from '../../recipes/catalogue.ts';
import { usualLimits } from '../../recipes/execution.ts';
import { MemoryRuns } from '../../recipes/memory-runs.ts';
import { RecipeRunner } from '../../recipes/runner.ts';
import type { World } from '../../world/world.ts';

/** Runs that ended longer ago are forgotten: their rows are in memory. */
const runsKeptMs = hourMs;

export interface OfflineRecipes {
  readonly service: RecipeService;
  /** Ends the runs that are under way. */
  close(): Promise<void>;
}

/** Asks and never acts. Keys and guard settings are not read, so `near the limit` is what the defaults say. */
export function openOfflineRecipes(places: Extract<Places, { ok: true }>, world: World): OfflineRecipes {
  const { store, recipesFolder, accountNames } = places;
  const accounts = accountNames.map((name) => ({ name }));
  const nearLimitPpm = { usual: defaultPolicy.nearLimitPpm, others: {} };
  const runs = new MemoryRuns();
  const runner = new RecipeRunner({
    world,
    catalogue: new RecipeCatalogue(() => recipesFolder),
    runs,
    place: store,
    facts: () => ({ now: world.clock.now(), accounts, nearLimitPpm }),
    commandAccess: () => null,
    limits: usualLimits,
  });
  const stopping = new AbortController();
  void forgetOldRuns(runs, world, stopping.signal);
  return {
    service: runner,
    close: () => {
      stopping.abort();
      return runner.close();
    },
  };
}

async function forgetOldRuns(runs: MemoryRuns, { clock }: World, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(minuteMs, signal);
    while (await runs.pruneOne(clock.now() - runsKeptMs));
  }
}
