// The notifier, while this replica sends the messages. Each time it takes them over, it begins with what the store knows.
import { Turns } from '../account/commit/turns.ts';
import type { Config } from '../config/config.ts';
import type { Alert } from '../core/alert.ts';
import type { StoreFailure } from '../core/store-failure.ts';
import { createNotifier, type Notifier } from '../outbox/notifier.ts';
import { StoreHealth } from '../outbox/store-health.ts';
import { ConfiguredChannels } from './configured-channels.ts';
import type { Opened } from './open.ts';
import { nameReplica, StandIn, saidBy } from './stand-in.ts';

type AlertsConfig = Config['alerts'];

export class Notifying {
  readonly #opened: Opened;
  readonly #pageUrl: string;
  readonly #turns: Turns;
  readonly #channels: ConfiguredChannels;
  #notifier: Notifier | null = null;
  /** Of the store, as this process sees it. */
  readonly health: StoreHealth;
  /** While another replica sends the messages, or none does. */
  readonly standIn: StandIn;

  constructor(opened: Opened, pageUrl: string) {
    this.#opened = opened;
    this.#pageUrl = pageUrl;
    this.#turns = new Turns(opened.world.clock);
    const { store } = opened;
    this.health = new StoreHealth(opened, () => store.heartbeat(store.membership.overdue));
    this.#channels = new ConfiguredChannels(opened, pageUrl);
    const { health } = this;
    this.standIn = new StandIn(opened, { health, turns: this.#turns, pageUrl, isNotifying: () => this.isOn });
  }

  begin(): Promise<void> {
    return this.#turns.take(async () => {
      if (this.#notifier) return;
      await this.standIn.end();
      const { world, loops, live, store, fleet, metrics } = this.#opened;
      const settings = live.config.alerts;
      const channels = this.#channels.as(settings.channels);
      const apiOf = (account: string) => live.account(account)?.baseUrl ?? null;
      const own = { world, loops, store, fleet, tally: metrics.tally, health: this.health };
      const failureElsewhere = () => this.failureElsewhere();
      const { membership } = store;
      const maySend = () => membership.holds('notify') && membership.mayPost();
      const inWords = (failure: StoreFailure) => saidBy(membership, failure);
      const parts = { ...own, failureElsewhere, inWords, maySend, channels, settings, pageUrl: this.#pageUrl, apiOf };
      this.#notifier = createNotifier(parts);
      this.#notifier.start();
    });
  }

  /** Ends after the attempts under way. What was not sent stays in the outbox. */
  end(): Promise<void> {
    return this.#turns.take(async () => {
      const ending = this.#notifier;
      this.#notifier = null;
      if (ending) {
        this.#channels.forget();
        await ending.stop();
      }
      await this.standIn.end();
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
    rule === 'store_failing' && (this.isOn || this.standIn.isOn);

  /** What another replica says of the store. */
  failureElsewhere(): StoreFailure | null {
    const { membership } = this.#opened.store;
    const others = membership.replicas().filter(({ id }) => id !== membership.self);
    for (const { name, storeFailure } of others) if (storeFailure) return nameReplica(name, storeFailure);
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
      await this.#notifier?.reconfigure(this.#channels.as(settings.channels), settings);
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
}
