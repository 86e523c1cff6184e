// Guards the accounts, notifies people, and keeps the store small. The watchdog ends the process if one of these stops.
import { isDeepStrictEqual } from 'node:util';
import { GroupCommit, Turns } from '../account/commit/group-commit.ts';
import type { RecorderRooms } from '../account/record/guarded-account.ts';
import type { Channel } from '../channels/channel.ts';
import { createChannel } from '../channels/channels.ts';
import type { ChannelConfig, Config } from '../config/config.ts';
import { minuteMs } from '../core/time.ts';
import { createNotifier } from '../outbox/notifier.ts';
import { StoreHealth } from '../outbox/store-watch.ts';
import { clockAheadMs, upkeepLoop } from '../store/upkeep.ts';
import { lookEveryMs, startLoops, type Teardowns } from '../world/loop.ts';
import type { DaemonRooms } from './open.ts';
import { Duties } from './reload/duties.ts';
import { ReloadAlerts } from './reload/reload-alerts.ts';
import { getOverCrash, Watchdog } from './watchdog.ts';

export interface Guarded {
  readonly rooms: RecorderRooms;
  readonly duties: Duties;
  readonly notifying: ReturnType<typeof createNotifying>;
  readonly alerts: ReloadAlerts;
}

export async function guard(
  opened: DaemonRooms,
  { pageUrl, crash }: { readonly pageUrl: string; readonly crash: (why: string) => void },
  teardowns: Teardowns,
): Promise<Guarded> {
  const { world, loops, live, store, fleet, metrics, recipes } = opened;
  const startedAt = world.clock.monotonic();
  const notifying = createNotifying(opened, pageUrl);
  teardowns.add('notifier', () => notifying.stop());
  const turns = new Turns(world.clock);
  const group = new GroupCommit({ world, store, fleet, turns });
  teardowns.add('calm answers', () => group.stop());
  const rooms = { world, store, fleet, tally: metrics.tally, turns, group, onTransitions: () => notifying.wake() };
  const duties = new Duties(live, rooms);
  teardowns.add('accounts', () => duties.stop());
  await duties.withdrawUnguarded().catch((error: unknown) => {
    world.log.error({ err: error }, 'the state of the circuit breaker could not be recorded');
  });
  notifying.start();
  duties.begin(live.config.accounts, await duties.storedLedgers());
  const alerts = new ReloadAlerts(rooms, live);
  const retention = () => live.config.retention;
  const aheadMs = () => clockAheadMs(fleet.accounts());
  const every = [
    ...recipes.loops,
    upkeepLoop({ world, loops, store, retention, aheadMs }),
    loops.every(lookEveryMs, 'watching the alerts of reloads', () => alerts.look()),
    // A process that takes over a lease starts at once. Otherwise what each 429 and each stop stores is enough.
    ...(store.lease.isShared ? [loops.every(lookEveryMs, 'storing the rate limits', () => duties.saveLedgers())] : []),
    loops.every(minuteMs, 'watching the alert of a crash', () => getOverCrash(opened, startedAt)),
  ];
  const watchdog = new Watchdog(opened, duties, crash);
  startLoops([...every, loops.every(lookEveryMs, 'watching the loops', () => watchdog.watch())], teardowns);
  return { rooms, duties, notifying, alerts };
}

/** Notifier over the configured channels. Unsent messages stay in the outbox. */
function createNotifying(opened: DaemonRooms, pageUrl: string) {
  const { world, loops, live, store, fleet, metrics } = opened;
  const { lease } = store;
  const timeZone = () => live.config.alerts.rules.timeZone;
  let made: readonly { readonly config: ChannelConfig; readonly channel: Channel }[] = [];
  const create = (config: ChannelConfig) =>
    createChannel(config, { world, pageUrl, publicUrl: live.config.server.publicUrl, timeZone });
  /** An unchanged channel stays the same object, so that its loop goes on. */
  const channelsOf = (wanted: readonly ChannelConfig[]) => {
    made = wanted.map(
      (config) => made.find((one) => isDeepStrictEqual(one.config, config)) ?? { config, channel: create(config) },
    );
    return made.map(({ channel }) => channel);
  };
  const settings = live.config.alerts;
  const notifier = createNotifier({
    ...{ world, loops, store, fleet, tally: metrics.tally, settings, pageUrl },
    health: new StoreHealth(opened, () => store.heartbeat(lease.overdue)),
    maySend: () => lease.mayPost(),
    channels: channelsOf(settings.channels),
    apiOf: (account) => live.account(account)?.baseUrl ?? null,
  });
  const reconfigure = (alerts: Config['alerts']) => notifier.reconfigure(channelsOf(alerts.channels), alerts);
  return { ...notifier, reconfigure };
}
