// The notifier with the channels of the configuration in force.
import type { Config } from '../config/config.ts';
import { createNotifier, type Notifier } from '../outbox/notifier.ts';
import { StoreHealth } from '../outbox/store-health.ts';
import { ConfiguredChannels } from './configured-channels.ts';
import type { Opened } from './open.ts';

export class Notifying {
  readonly #channels: ConfiguredChannels;
  readonly #notifier: Notifier;

  constructor(opened: Opened, pageUrl: string) {
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
