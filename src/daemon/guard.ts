// Guards the accounts, notifies people, and keeps the store small. The watchdog ends the process if one of these stops.
import { GroupCommit } from '../account/commit/group-commit.ts';
import { Turns } from '../account/commit/turns.ts';
import type { RecorderRooms } from '../account/record/guarded-account.ts';
import { minuteMs } from '../core/time.ts';
import { clockAheadMs, upkeepLoop } from '../store/upkeep.ts';
import { lookEveryMs, startLoops, type Teardowns } from '../world/loop.ts';
import { Notifying } from './notifying.ts';
import type { DaemonRooms } from './open.ts';
import { Duties } from './reload/duties.ts';
import { ReloadAlerts } from './reload/reload-alerts.ts';
import { getOverCrash, Watchdog } from './watchdog.ts';

export interface Guarded {
  readonly rooms: RecorderRooms;
  readonly duties: Duties;
  readonly notifying: Notifying;
  readonly alerts: ReloadAlerts;
}

interface GuardParts {
  /** Base of the links in messages. */
  readonly pageUrl: string;
  /** Ends the process because a loop has stopped. */
  readonly crash: (why: string) => void;
}

export async function guard(
  opened: DaemonRooms,
  { pageUrl, crash }: GuardParts,
  teardowns: Teardowns,
): Promise<Guarded> {
  const { world, loops, live, store, fleet, metrics, scheduleRecipes } = opened;
  const startedAt = world.clock.monotonic();
  const notifying = new Notifying(opened, pageUrl);
  teardowns.add('notifier', () => notifying.end());
  const turns = new Turns(world.clock);
  const group = new GroupCommit({ world, store, fleet, turns });
  teardowns.add('calm answers', () => group.stop());
  const rooms = { world, store, fleet, tally: metrics.tally, turns, group, onTransitions: () => notifying.wake() };
  const duties = new Duties(live, rooms, pageUrl);
  teardowns.add('accounts', () => duties.stop());
  await duties.withdrawUnguarded().catch((error: unknown) => {
    world.log.error({ err: error }, 'the state of the circuit breaker could not be recorded');
  });
  notifying.begin();
  duties.begin(live.config.accounts, await duties.storedLedgers());
  const alerts = new ReloadAlerts(rooms, live);
  const retention = () => live.config.retention;
  const aheadMs = () => clockAheadMs(fleet.accounts());
  const schedules = scheduleRecipes();
  teardowns.add('scheduled recipes', () => schedules.stop());
  const every = [
    upkeepLoop({ world, loops, store, retention, aheadMs }),
    loops.every(lookEveryMs, 'watching the alerts of reloads', () => alerts.look()),
    // A process that takes over a lease starts at once. Otherwise what each 429 and each stop stores is enough.
    ...(store.lease.isShared ? [loops.every(lookEveryMs, 'storing the rate limits', () => duties.saveLedgers())] : []),
    loops.every(minuteMs, 'watching the alert of a crash', () => getOverCrash(opened, startedAt)),
  ];
  startLoops(every, teardowns);
  const watchdog = new Watchdog(opened, duties, crash);
  watchdog.start();
  teardowns.add('watchdog', () => watchdog.stop());
  return { rooms, duties, notifying, alerts };
}
