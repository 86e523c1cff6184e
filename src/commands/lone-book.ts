// The recipes of a store beside which no daemon is needed: read-only, their runs kept in this process only.
import type { Places } from '../config/places.ts';
import { defaultPolicy } from '../model/policy.ts';
import type { RecipeService } from '../model/recipe.ts';
import { hourMs, minuteMs } from '../model/time.ts';
import { RecipeBook } from '../recipes/book.ts';
import { MemoryRuns } from '../recipes/memory-runs.ts';
import { usualLimits } from '../recipes/run.ts';
import { Shelf } from '../recipes/shelf.ts';
import type { World } from '../world.ts';

/** Runs that ended longer ago are forgotten: their rows are in memory. */
const runsKeptMs = hourMs;

export interface LoneBook {
  readonly service: RecipeService;
  /** Ends the runs that are under way. */
  close(): Promise<void>;
}

/** Asks and never acts. Keys and guard settings are not read, so `near the limit` is what the defaults say. */
export function openLoneBook(places: Extract<Places, { ok: true }>, world: World): LoneBook {
  const { storePath, recipesFolder, accountNames } = places;
  const accounts = accountNames.map((name) => ({ name }));
  const nearLimitPpm = { usual: defaultPolicy.nearLimitPpm, others: {} };
  const runs = new MemoryRuns();
  const book = new RecipeBook({
    world,
    shelf: new Shelf(() => recipesFolder),
    runs,
    storePath,
    facts: () => ({ now: world.clock.now(), accounts, nearLimitPpm }),
    handling: () => null,
    limits: usualLimits,
  });
  const stopping = new AbortController();
  void forgetOldRuns(runs, world, stopping.signal);
  return {
    service: book,
    close: () => {
      stopping.abort();
      return book.close();
    },
  };
}

async function forgetOldRuns(runs: MemoryRuns, { clock }: World, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(minuteMs, signal);
    while (await runs.pruneOne(clock.now() - runsKeptMs));
  }
}
