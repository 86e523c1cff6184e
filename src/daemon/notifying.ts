// The notifier, while this replica sends the messages. Each time it takes them over, it begins with what the store knows.
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

/** Between two looks at whether no replica sends the messages. */
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
  /** Notifies people of a failing store while no replica sends the messages. */
  #standIn: StoreWatch | null = null;
  /** Of the store, as this process sees it. */
  readonly health: StoreHealth;

  constructor(opened: Opened, pageUrl: string) {
    this.#opened = opened;
    this.#pageUrl = pageUrl;
    this.#turns = new Turns(opened.world.clock);
    const { store } = opened;
    this.health = new StoreHealth(opened, () => store.heartbeat(store.membership.overdue));
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
   * Whether this process knows the alert better than the store does: it notifies people of a failing store, which may not have
   * recorded that alert.
   */
  readonly isOwn = ({ rule }: Pick<Alert, 'rule'>): boolean =>
    rule === 'store_failing' && (this.isOn || this.#standIn !== null);

  /**
   * One look at the store. While no replica sends the messages and this one can't take them over, this one notifies people of a
   * failing store. Returns when to look again, milliseconds.
   */
  standIn(): Promise<number> {
    return this.#turns.take(async () => {
      if (this.#notifier) return standInEveryMs;
      const { world, live, store, fleet } = this.#opened;
      const isAlone = this.#standIn !== null || store.membership.overdue !== null;
      if (!fleet.storeFailure || !isAlone || this.#otherSends()) {
        if (this.#standIn) await this.#close();
        return standInEveryMs;
      }
      const channels = () => this.#renew(live.config.alerts);
      const about = { channels, settings: () => live.config.alerts, health: this.health, recorded: () => {} };
      this.#standIn ??= new StoreWatch({ world, store, fleet, ...about });
      return this.#standIn.step();
    });
  }

  /** Whether another living replica sends the messages. */
  #otherSends(): boolean {
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
