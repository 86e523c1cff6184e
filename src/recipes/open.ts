// The recipes of a daemon: what they do, they do through its operator commands; their runs are kept in its store.
import type { Fleet } from '../fleet/fleet.ts';
import type { Loops } from '../loop.ts';
import type { MailboxState } from '../model/mailbox.ts';
import type { Ppm } from '../model/policy.ts';
import type { StorePlace } from '../model/store-place.ts';
import type { Store } from '../store/store.ts';
import type { World } from '../world.ts';
import { RecipeCatalogue } from './catalogue.ts';
import { usualLimits } from './execution.ts';
import { factsOf } from './facts.ts';
import { RecipeRunner } from './runner.ts';
import { startScheduler } from './scheduler.ts';
import type { CommandAccess } from './step.ts';

export interface RecipeParts {
  readonly world: World;
  readonly loops: Loops;
  readonly store: Pick<Store, 'runs' | 'membership'>;
  readonly fleet: Fleet;
  readonly nearLimitPpmOf: (mailbox: MailboxState) => Ppm;
  readonly place: StorePlace;
  /** Where the user's recipes are; asked each time, as the next two. */
  readonly folder: () => string;
  readonly retentionMs: () => number;
  /** null until the daemon has them. */
  readonly commands: () => CommandAccess['commands'] | null;
}

export interface OpenRecipes {
  readonly runner: RecipeRunner;
  /** Begins to start scheduled runs, and to delete old ones; `stop` resolves when that has ended. */
  schedule(): { stop(): Promise<void> };
  stop(): Promise<void>;
}

export async function openRecipes(parts: RecipeParts): Promise<OpenRecipes> {
  const { world, loops, store, fleet, nearLimitPpmOf, place, folder, retentionMs, commands } = parts;
  const { runs } = store;
  const catalogue = new RecipeCatalogue(folder);
  const runner = new RecipeRunner({
    world,
    catalogue,
    runs,
    place,
    facts: () => factsOf(fleet, nearLimitPpmOf, world.clock.now()),
    commandAccess: () => {
      const there = commands();
      return there && { commands: there, mailbox: (account, id) => fleet.mailbox(account, id) };
    },
    limits: usualLimits,
  });
  // Of several replicas, the others carry out theirs.
  if (store.membership.self === null) await runner.endLeftBehind(null);
  return {
    runner,
    schedule: () => startScheduler({ world, loops, runner, catalogue, runs, retentionMs }),
    stop: () => runner.close(),
  };
}
