// Guards every configured account, restarts the loops that stop, notifies people, and keeps the store small.

import type { Channel } from '../channels/channel.ts';
import { createChannel } from '../channels/channels.ts';
import type { ChannelConfig } from '../config/config.ts';
import { createNotifier, type Notifier } from '../notify/notifier.ts';
import { GroupCommit } from '../record/group-commit.ts';
import type { RecorderRooms } from '../record/guarded-account.ts';
import { Turns } from '../record/turns.ts';
import { Duties } from '../reload/duties.ts';
import { Supervisor } from '../reload/supervisor.ts';
import type { Teardowns } from '../teardowns.ts';
import { startUpkeep } from '../upkeep/upkeep.ts';
import type { Opened } from './open.ts';

export interface Guarded {
  readonly rooms: RecorderRooms;
  readonly duties: Duties;
  readonly notifier: Notifier;
  /** Those that the notifier began with. */
  readonly channels: readonly Channel[];
  /** Makes a channel as the configuration says. */
  readonly channelOf: (config: ChannelConfig) => Channel;
}

export async function guard(opened: Opened, pageUrl: string, teardowns: Teardowns): Promise<Guarded> {
  const { world, live, store, fleet, metrics } = opened;
  const { tally } = metrics;
  const { accounts, alerts } = live.config;
  const timeZone = () => live.config.alerts.rules.timeZone;
  const { publicUrl } = live.config.server;
  const channelOf = (one: ChannelConfig) => createChannel(one, { world, pageUrl, publicUrl, timeZone });
  const channels = alerts.channels.map(channelOf);
  const apiOf = (account: string) => live.account(account)?.baseUrl ?? null;
  const notifier = createNotifier({ world, store, fleet, tally, channels, settings: alerts, pageUrl, apiOf });
  notifier.start();
  teardowns.add('notifier', () => notifier.stop());
  const turns = new Turns(world.clock);
  const group = new GroupCommit({ world, store, fleet, turns });
  teardowns.add('calm answers', () => group.stop());
  const rooms = { world, store, fleet, tally, turns, group, onTransitions: () => notifier.wake() };
  const duties = new Duties(live, rooms, pageUrl);
  teardowns.add('accounts', () => duties.stop());
  await duties.withdrawUnguarded().catch((error: unknown) => {
    world.log.error({ err: error }, 'the state of the circuit breaker could not be recorded');
  });
  for (const account of accounts) duties.begin(account);
  const supervisor = new Supervisor({ live, duties, rooms });
  supervisor.start();
  teardowns.add('supervisor', () => supervisor.stop());
  const upkeep = startUpkeep({
    world,
    store,
    retention: () => live.config.retention,
    channels: () => live.config.alerts.channels.map(({ name }) => name),
  });
  teardowns.add('upkeep', () => upkeep.stop());
  return { rooms, duties, notifier, channels, channelOf };
}
