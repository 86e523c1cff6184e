// The recipes of a daemon: what they do, they do through its operator commands; their runs are kept in its store.
import type { Fleet } from '../fleet/fleet.ts';
import type { MailboxState } from '../model/mailbox.ts';
import type { Ppm } from '../model/policy.ts';
import type { Store } from '../store/store.ts';
import type { World } from '../world.ts';
import { RecipeBook } from './book.ts';
import { startClockwork } from './clockwork.ts';
import type { Handling } from './doing.ts';
import { factsOf } from './facts.ts';
import { usualLimits } from './run.ts';
import { Shelf } from './shelf.ts';

export interface RecipeRooms {
  readonly world: World;
  readonly store: Pick<Store, 'runs'>;
  readonly fleet: Fleet;
  readonly nearLimitPpmOf: (mailbox: MailboxState) => Ppm;
  /** The store's file. */
  readonly storePath: string;
  /** Where the user's recipes are; asked anew each time, as the next two. */
  readonly folder: () => string;
  readonly retentionMs: () => number;
  /** null until the daemon has them. */
  readonly commands: () => Handling['commands'] | null;
}

export interface OpenRecipes {
  readonly book: RecipeBook;
  stop(): Promise<void>;
}

export async function openRecipes(rooms: RecipeRooms): Promise<OpenRecipes> {
  const { world, store, fleet, nearLimitPpmOf, storePath, folder, retentionMs, commands } = rooms;
  const { runs } = store;
  const shelf = new Shelf(folder);
  const book = new RecipeBook({
    world,
    shelf,
    runs,
    storePath,
    facts: () => factsOf(fleet, nearLimitPpmOf, world.clock.now()),
    handling: () => {
      const there = commands();
      return there && { commands: there, mailbox: (account, id) => fleet.mailbox(account, id) };
    },
    limits: usualLimits,
  });
  await book.open();
  const clockwork = startClockwork({ world, book, shelf, runs, retentionMs });
  return {
    book,
    async stop() {
      await clockwork.stop();
      await book.close();
    },
  };
}
