// The composition root: starts the parts of the daemon one on top of the other, and ends them in reverse order.
import type { Fleet } from '../core/fleet/fleet.ts';
import type { CommandOutcome, ReloadRequest } from '../core/operator-command.ts';
import { Store } from '../store/store.ts';
import { Teardowns } from '../world/loop.ts';
import type { World } from '../world/world.ts';
import { guard } from './guard.ts';
import { open } from './open.ts';
import { operate } from './operate.ts';
import type { ConfigSource } from './reload/reloader.ts';
import { serve } from './serve.ts';
import { Startup } from './startup.ts';

export interface Daemon {
  /** Where the page and the metrics are; without a slash at the end. */
  readonly url: string;
  readonly fleet: Fleet;
  /** Loads the configuration again. What is refused changes nothing. */
  reload(request: ReloadRequest): Promise<CommandOutcome>;
  /** Ends everything, last started first. What was begun is in the store. */
  stop(): Promise<void>;
}

/** A process that lost its lease can't write any more. What it was doing is over: a supervisor starts it again, as a standby. */
function endProcess(world: World): (why: string) => void {
  return (why) => {
    world.log.error(`${why}: this process ends, and stands by after its restart`);
    process.exit(1);
  };
}

/**
 * Starts the daemon, on PostgreSQL once no other process is active. Rejects with one sentence when the store or the address can't
 * be had; nothing is left running then.
 */
export async function startDaemon(
  source: ConfigSource,
  world: World,
  openStore = Store.open,
  leaseLost = endProcess(world),
): Promise<Daemon> {
  const { config } = source.started;
  const startup = new Startup();
  const parts = new Teardowns(world.log);
  try {
    const opened = await parts.scope((teardowns) =>
      open(source.started, { world, startup, openStore, leaseLost }, teardowns),
    );
    // Before anything is guarded: messages link to the page, and an address that is taken must refuse the start.
    const served = await parts.scope((teardowns) => serve(config.server, { opened, startup }, teardowns));
    const guarded = await parts.scope((teardowns) => guard(opened, served.pageUrl, teardowns));
    const reloader = await parts.scope((teardowns) => operate(source, { opened, served, guarded, startup }, teardowns));
    return {
      url: served.url,
      fleet: opened.fleet,
      reload: (request) => reloader.reload(request),
      stop: () => parts.takeDown(),
    };
  } catch (error) {
    await parts.takeDown();
    throw error;
  }
}
