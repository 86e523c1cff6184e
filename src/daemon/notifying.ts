// The notifier while messages are this replica's work. Each time that they become so it begins on what the store knows.
import { isDeepStrictEqual } from 'node:util';
import type { Channel } from '../channels/channel.ts';
import { createChannel } from '../channels/channels.ts';
import { Turns } from '../commit/turns.ts';
import type { ChannelConfig, Config } from '../config/config.ts';
import type { Alert } from '../model/alert.ts';
import type { StoreFailure } from '../model/store-failure.ts';
import { secondMs } from '../model/time.ts';
import { createNotifier, type Notifier } from '../notify/notifier.ts';
import { StoreHealth } from '../notify/store-health.ts';
import { StoreWatch } from '../notify/store-watch.ts';
import type { Opened } from './open.ts';

type AlertsConfig = Config['alerts'];

/** Between two looks for whether nobody has the messages. */
const standInEveryMs = 5 * secondMs;

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
  /** While no replica has the messages: what tells people of the store all the same. */
  #standIn: StoreWatch | null = null;
  /** Of the store, as this process sees it. */
  readonly health: StoreHealth;

  constructor(opened: Opened, pageUrl: string) {
    this.#opened = opened;
    this.#pageUrl = pageUrl;
    this.#turns = new Turns(opened.world.clock);
    const { store } = opened;
    this.health = new StoreHealth(opened, () => {
      // A heartbeat is no read or write of the store's own.
      if (store.membership.overdue) store.notice(store.membership.overdue);
    });
  }

  begin(): Promise<void> {
    return this.#turns.take(async () => {
      if (this.#notifier) return;
      this.#standIn = null;
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
      if (!ending) return this.#close();
      this.#channels = [];
      await ending.stop();
    });
  }

  /** Whether this process sends the messages. */
  get isOn(): boolean {
    return this.#notifier !== null;
  }

  /**
   * Whether what this process knows of the alert counts, and not what the store holds of it: whoever tells people that the store
   * fails knows more of that than a store that fails.
   */
  readonly isOwn = ({ rule }: Pick<Alert, 'rule'>): boolean =>
    rule === 'store_failing' && (this.isOn || this.#standIn !== null);

  /**
   * One look at the store while no replica has the messages, and this one can't take them: that it fails is told from here. Returns
   * when to look again, milliseconds.
   */
  standIn(): Promise<number> {
    return this.#turns.take(async () => {
      if (this.#notifier) return standInEveryMs;
      const { world, live, store, fleet } = this.#opened;
      const isAlone = this.#standIn !== null || store.membership.overdue !== null;
      if (!fleet.storeFailure || !isAlone || this.#isSomebodys()) {
        if (this.#standIn) await this.#close();
        return standInEveryMs;
      }
      const channels = () => this.#renew(live.config.alerts);
      const about = { channels, settings: () => live.config.alerts, health: this.health, recorded: () => {} };
      this.#standIn ??= new StoreWatch({ world, store, fleet, ...about });
      return this.#standIn.step();
    });
  }

  /** Whether another replica that lives has the messages. */
  #isSomebodys(): boolean {
    const { membership } = this.#opened.store;
    return membership.replicas().some(({ id, scopes }) => id !== membership.self && scopes.includes('notify'));
  }

  async #close(): Promise<void> {
    this.#standIn = null;
    const closing = this.#channels;
    this.#channels = [];
    await Promise.all(closing.map(({ channel }) => channel.close?.()));
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
