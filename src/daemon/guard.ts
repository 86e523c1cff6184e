// Guards the accounts, notifies people, and keeps the store small. The watchdog ends the process if one of these stops.
import { isDeepStrictEqual } from 'node:util';
import { GroupCommit, Turns } from '../account/commit/group-commit.ts';
import type { RecorderRooms } from '../account/record/guarded-account.ts';
import type { Channel } from '../channels/channel.ts';
import { createChannel } from '../channels/channels.ts';
import type { ChannelConfig, Config } from '../config/config.ts';
import { minuteMs } from '../core/time.ts';
import { createNotifier, type Notifier } from '../outbox/notifier.ts';
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
  readonly notifying: Notifying;
  readonly alerts: ReloadAlerts;
}

interface GuardParts {
  readonly pageUrl: string;
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
  const duties = new Duties(live, rooms);
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

class Notifying {
  readonly #channels: ConfiguredChannels;
  readonly #notifier: Notifier;

  constructor(opened: DaemonRooms, pageUrl: string) {
    const { world, loops, live, store, fleet, metrics } = opened;
    const { lease } = store;
    this.#channels = new ConfiguredChannels(opened, pageUrl);
    const settings = live.config.alerts;
    this.#notifier = createNotifier({
      ...{ world, loops, store, fleet, tally: metrics.tally, settings, pageUrl },
      health: new StoreHealth(opened, () => store.heartbeat(lease.overdue)),
      maySend: () => lease.mayPost(),
      channels: this.#channels.as(settings.channels),
      apiOf: (account) => live.account(account)?.baseUrl ?? null,
    });
  }

  begin(): void {
    this.#notifier.start();
  }

  /** Unsent messages stay in the outbox. */
  end(): Promise<void> {
    return this.#notifier.stop();
  }

  wake(): void {
    this.#notifier.wake();
  }

  reconfigure(settings: Config['alerts']): Promise<void> {
    return this.#notifier.reconfigure(this.#channels.as(settings.channels), settings);
  }

  get undelivered(): Notifier['undelivered'] {
    return this.#notifier.undelivered;
  }
}

class ConfiguredChannels {
  readonly #opened: DaemonRooms;
  readonly #pageUrl: string;
  #made: readonly { readonly config: ChannelConfig; readonly channel: Channel }[] = [];

  constructor(opened: DaemonRooms, pageUrl: string) {
    this.#opened = opened;
    this.#pageUrl = pageUrl;
  }

  /** An unchanged channel stays the same object, so that its loop goes on. */
  as(wanted: readonly ChannelConfig[]): readonly Channel[] {
    this.#made = wanted.map(
      (config) =>
        this.#made.find((one) => isDeepStrictEqual(one.config, config)) ?? { config, channel: this.#make(config) },
    );
    return this.#made.map(({ channel }) => channel);
  }

  #make(config: ChannelConfig): Channel {
    const { world, live } = this.#opened;
    const timeZone = () => live.config.alerts.rules.timeZone;
    return createChannel(config, { world, pageUrl: this.#pageUrl, publicUrl: live.config.server.publicUrl, timeZone });
  }
}
