// The notifier while messages are this replica's work. Each time that they become so it begins on what the store knows.
import { isDeepStrictEqual } from 'node:util';
import type { Channel } from '../channels/channel.ts';
import { createChannel } from '../channels/channels.ts';
import { Turns } from '../commit/turns.ts';
import type { ChannelConfig, Config } from '../config/config.ts';
import type { StoreFailure } from '../model/store-failure.ts';
import { createNotifier, type Notifier } from '../notify/notifier.ts';
import { StoreHealth } from '../notify/store-health.ts';
import type { Opened } from './open.ts';

type AlertsConfig = Config['alerts'];

interface ConfiguredChannel {
  readonly config: ChannelConfig;
  readonly channel: Channel;
}

export class Notifying {
  readonly #opened: Opened;
  readonly #pageUrl: string;
  readonly #turns: Turns;
  #channels: readonly ConfiguredChannel[] = [];
  #notifier: Notifier | null = null;
  /** Of the store, as this process sees it. */
  readonly health: StoreHealth;

  constructor(opened: Opened, pageUrl: string) {
    this.#opened = opened;
    this.#pageUrl = pageUrl;
    this.#turns = new Turns(opened.world.clock);
    this.health = new StoreHealth(opened);
  }

  begin(): Promise<void> {
    return this.#turns.take(async () => {
      if (this.#notifier) return;
      const { world, loops, live, store, fleet, metrics } = this.#opened;
      const settings = live.config.alerts;
      const channels = this.#renew(settings);
      const apiOf = (account: string) => live.account(account)?.baseUrl ?? null;
      const own = { world, loops, store, fleet, tally: metrics.tally, health: this.health };
      const failureElsewhere = () => this.failureElsewhere();
      const { membership } = store;
      const maySend = () => membership.holds('notify') && membership.mayPost();
      const parts = { ...own, failureElsewhere, maySend, channels, settings, pageUrl: this.#pageUrl, apiOf };
      this.#notifier = createNotifier(parts);
      this.#notifier.start();
    });
  }

  /** Ends after the attempts under way. What was not sent stays in the outbox. */
  end(): Promise<void> {
    return this.#turns.take(async () => {
      const ending = this.#notifier;
      this.#notifier = null;
      this.#channels = [];
      await ending?.stop();
    });
  }

  /** Whether this process sends the messages. */
  get isOn(): boolean {
    return this.#notifier !== null;
  }

  /** What another replica says of the store. */
  failureElsewhere(): StoreFailure | null {
    const { membership } = this.#opened.store;
    const others = membership.replicas().filter(({ id }) => id !== membership.self);
    for (const { name, storeFailure } of others)
      if (storeFailure) return { ...storeFailure, said: `replica ${name} says: ${storeFailure.said}` };
    return null;
  }

  /** Another replica began or ceased to say that the store fails. */
  wakeStoreWatch(): void {
    this.#notifier?.wakeStoreWatch();
  }

  /** Transitions were committed. */
  wake(): void {
    this.#notifier?.wake();
  }

  reconfigure(settings: AlertsConfig): Promise<void> {
    return this.#turns.take(async () => {
      await this.#notifier?.reconfigure(this.#renew(settings), settings);
    });
  }

  /** What was given up, and the way to have it sent once more. */
  get undelivered(): Notifier['undelivered'] {
    const { live, store, world } = this.#opened;
    return {
      channels: () => live.config.alerts.channels.map(({ name }) => name),
      find: (which) => store.outbox.undelivered(which),
      resend: (ids) => this.#notifier?.undelivered.resend(ids) ?? store.outbox.resendDeliveries(ids, world.clock.now()),
    };
  }

  /** The channels as they are configured. One that is as it was stays the same object, so its loop is left alone. */
  #renew({ channels }: AlertsConfig): readonly Channel[] {
    this.#channels = channels.map(
      (config) =>
        this.#channels.find((one) => isDeepStrictEqual(one.config, config)) ?? { config, channel: this.#make(config) },
    );
    return this.#channels.map(({ channel }) => channel);
  }

  #make(config: ChannelConfig): Channel {
    const { world, live } = this.#opened;
    const timeZone = () => live.config.alerts.rules.timeZone;
    return createChannel(config, { world, pageUrl: this.#pageUrl, publicUrl: live.config.server.publicUrl, timeZone });
  }
}
