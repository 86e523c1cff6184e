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

  /** Ends after the attempts under way. What was not sent stays in the outbox. */
  end(): Promise<void> {
    return this.#notifier.stop();
  }

  /** Transitions were committed. */
  wake(): void {
    this.#notifier.wake();
  }

  reconfigure(settings: Config['alerts']): Promise<void> {
    return this.#notifier.reconfigure(this.#channels.as(settings.channels), settings);
  }

  /** What was given up, and the way to have it sent once more. */
  get undelivered(): Notifier['undelivered'] {
    return this.#notifier.undelivered;
  }
}

/** The channels as the configuration has them. */
class ConfiguredChannels {
  readonly #opened: DaemonRooms;
  readonly #pageUrl: string;
  #made: readonly { readonly config: ChannelConfig; readonly channel: Channel }[] = [];

  constructor(opened: DaemonRooms, pageUrl: string) {
    this.#opened = opened;
    this.#pageUrl = pageUrl;
  }

  /** As they are configured now. One that has not changed stays the same object, so its loop is left alone. */
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
