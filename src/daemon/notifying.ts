// The notifier with the channels of the configuration in force.
import { isDeepStrictEqual } from 'node:util';
import type { Channel } from '../channels/channel.ts';
import { createChannel } from '../channels/channels.ts';
import type { ChannelConfig, Config } from '../config/config.ts';
import { createNotifier, type Notifier } from '../outbox/notifier.ts';
import { StoreHealth } from '../outbox/store-watch.ts';
import type { DaemonRooms } from './open.ts';

export class Notifying {
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

  /** Ends after the attempts in progress. Unsent messages stay in the outbox. */
  end(): Promise<void> {
    return this.#notifier.stop();
  }

  /** Wakes the notifier after a commit of transitions. */
  wake(): void {
    this.#notifier.wake();
  }

  reconfigure(settings: Config['alerts']): Promise<void> {
    return this.#notifier.reconfigure(this.#channels.as(settings.channels), settings);
  }

  /** Undelivered messages, and the way to resend them. */
  get undelivered(): Notifier['undelivered'] {
    return this.#notifier.undelivered;
  }
}

/** Channels of the configuration. */
class ConfiguredChannels {
  readonly #opened: DaemonRooms;
  readonly #pageUrl: string;
  #made: readonly { readonly config: ChannelConfig; readonly channel: Channel }[] = [];

  constructor(opened: DaemonRooms, pageUrl: string) {
    this.#opened = opened;
    this.#pageUrl = pageUrl;
  }

  /** Channels as configured now. An unchanged one stays the same object, so that its loop goes on. */
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
