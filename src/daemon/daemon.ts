// The composition root: starts the parts of the daemon, and ends them in reverse order.
import type { Fleet } from '../core/fleet/fleet.ts';
import type { CommandOutcome, ReloadRequest } from '../core/operator-command.ts';
import { Store } from '../store/store.ts';
import { Teardowns } from '../world/loop.ts';
import { endsWithin, systemClock, type World } from '../world/world.ts';
import { guard } from './guard.ts';
import { type DaemonRooms, open } from './open.ts';
import { operate } from './operate.ts';
import type { Startup } from './readiness.ts';
import type { ConfigSource } from './reload/reloader.ts';
import { serve } from './serve.ts';
import { recordCrash } from './watchdog.ts';

export interface Daemon {
  /** Address of the page and the metrics, without a slash at the end. */
  readonly url: string;
  readonly fleet: Fleet;
  /** A refused configuration changes nothing. */
  reload(request: ReloadRequest): Promise<CommandOutcome>;
  /** Ends the process because a part of it does not work: `why` is a part of a sentence. */
  crash(why: string, error?: unknown): void;
  /** Ends the last started part first. Work in progress is in the store. */
  stop(): Promise<void>;
}

interface Ways {
  readonly openStore: typeof Store.open;
  /** Ends this process at once. A supervisor, or the process itself, starts it again. */
  readonly end: (why: string) => void;
}

/** Real time in which a crash closes what it can. */
const closeWithinMs = 10_000;

/** Waits with PostgreSQL until no other process is active. A failed start leaves nothing running. */
export async function startDaemon(source: ConfigSource, world: World, ways: Partial<Ways> = {}): Promise<Daemon> {
  const { openStore = Store.open, end = () => process.exit(1) } = ways;
  const { config } = source.started;
  const startup: Startup = { operate: null };
  const parts = new Teardowns(world.log);
  // A process that lost its lease can't write any more, so its work is over.
  const leaseLost = (why: string) => {
    world.log.error(`${why}: this process ends, and stands by after its restart`);
    end(why);
  };
  try {
    const opened = await parts.scope((teardowns) => open(config, { world, startup, openStore, leaseLost }, teardowns));
    const crash = crashing(opened, parts, end);
    // The server starts first: messages link to the page, and an address in use must refuse the start.
    const served = await parts.scope((teardowns) => serve(config.server, { opened, startup }, teardowns));
    const guarded = await parts.scope((teardowns) => guard(opened, { pageUrl: served.pageUrl, crash }, teardowns));
    const reloader = await parts.scope((teardowns) =>
      operate(source, { opened, served, guarded, startup, crash }, teardowns),
    );
    return {
      url: served.url,
      fleet: opened.fleet,
      reload: (request) => reloader.reload(request),
      crash,
      stop: () => parts.takeDown(),
    };
  } catch (error) {
    await parts.takeDown();
    throw error;
  }
}

/** Ends the process once, after a short attempt to record why and to close what it has. */
function crashing(opened: DaemonRooms, parts: Teardowns, end: (why: string) => void): Daemon['crash'] {
  const { log, clock } = opened.world;
  let isEnding = false;
  const close = async (why: string) => {
    await recordCrash(opened, { at: clock.now(), why }).catch((error: unknown) => {
      log.error({ err: error }, 'why Warmwarden ends could not be recorded');
    });
    await parts.takeDown();
  };
  return (why, error) => {
    if (isEnding) return;
    isEnding = true;
    log.error({ ...(error !== undefined && { err: error }) }, `Warmwarden ends, and a restart repairs it: ${why}`);
    void endsWithin(close(why), closeWithinMs, systemClock()).finally(() => end(why));
  };
}
