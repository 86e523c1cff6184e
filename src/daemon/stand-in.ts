// Notifies people of a failing store in a replica that does not send the messages: while no replica does, and of the end of
// whatever this one announced to them.
import type { Turns } from '../account/commit/turns.ts';
import type { StoreFailure } from '../core/store-failure.ts';
import { minuteMs, secondMs } from '../core/time.ts';
import type { StoreHealth } from '../outbox/store-health.ts';
import { StoreWatch } from '../outbox/store-watch.ts';
import type { Membership } from '../store/replicas/membership.ts';
import { ConfiguredChannels } from './configured-channels.ts';
import { type Opened, replicaName } from './open.ts';

const lookEveryMs = 5 * secondMs;
/** After so long without the store nobody knows whether the replica that sent the messages still runs. */
const unseenAfterMs = 5 * minuteMs;

export class StandIn {
  readonly #opened: Opened;
  readonly #health: StoreHealth;
  readonly #turns: Turns;
  readonly #isNotifying: () => boolean;
  readonly #channels: ConfiguredChannels;
  #watch: StoreWatch | null = null;
  /** This replica, or the process before it, may have notified people of an outage, and not of its end. */
  #mayBeOpen = true;
  /** Since when this replica has not had its work, on the monotonic scale; null: it has. */
  #aloneSince: number | null = null;

  constructor(
    opened: Opened,
    {
      health,
      turns,
      pageUrl,
      isNotifying,
    }: {
      readonly health: StoreHealth;
      readonly turns: Turns;
      readonly pageUrl: string;
      /** Whether this replica sends the messages. */
      readonly isNotifying: () => boolean;
    },
  ) {
    this.#opened = opened;
    this.#health = health;
    this.#turns = turns;
    this.#isNotifying = isNotifying;
    this.#channels = new ConfiguredChannels(opened, pageUrl);
  }

  /** Whether it notifies people of an outage, or of its end. */
  get isOn(): boolean {
    return this.#watch !== null;
  }

  /** One look. Returns when to look again, milliseconds. */
  step(): Promise<number> {
    return this.#turns.take(async () => {
      if (this.#isNotifying()) return lookEveryMs;
      const { world, store, fleet } = this.#opened;
      const isAlone = fleet.storeFailure !== null && store.membership.overdue !== null;
      this.#aloneSince = isAlone ? (this.#aloneSince ?? world.clock.monotonic()) : null;
      const isWanted = this.#watch !== null || this.#mayBegin() || (await this.#isOpen());
      if (!isWanted) return lookEveryMs;
      this.#watch ??= this.#begun();
      const waitMs = await this.#watch.step();
      if (!this.#watch.isOpen) await this.end();
      return Math.min(waitMs, lookEveryMs);
    });
  }

  /** This replica sends the messages from now on, and goes on with what was announced. Within the caller's turn. */
  async end(): Promise<void> {
    this.#watch?.end();
    this.#watch = null;
    this.#mayBeOpen = true;
    await this.#channels.close();
  }

  #begun(): StoreWatch {
    const { world, loops, live, store, fleet } = this.#opened;
    const channels = () => this.#channels.as(live.config.alerts.channels);
    const settings = () => live.config.alerts;
    const isUnseen = this.#mayBegin() && this.#othersSend();
    const inWords = (failure: StoreFailure) => (isUnseen ? this.#unseen(failure) : saidBy(store.membership, failure));
    return new StoreWatch({
      ...{ world, loops, store, fleet, channels, settings, health: this.#health, inWords, recorded: () => {} },
    });
  }

  /** The store may fail for this replica alone. */
  #unseen(failure: StoreFailure): StoreFailure {
    const { membership } = this.#opened.store;
    const name = membership.replicas().find(({ id }) => id === membership.self)?.name ?? 'this one';
    const said = `the replica ${name} has not reached the store for five minutes, and cannot see whether another replica guards the accounts: ${failure.said}`;
    return { ...failure, title: 'a replica cannot reach the store', said };
  }

  #mayBegin(): boolean {
    return this.#aloneSince !== null && (!this.#othersSend() || this.#isUnseen());
  }

  /** Whether another living replica sends the messages, as far as this one sees. */
  #othersSend(): boolean {
    const { membership } = this.#opened.store;
    return membership.replicas().some(({ id, scopes }) => id !== membership.self && scopes.includes('notify'));
  }

  #isUnseen(): boolean {
    const { store, world } = this.#opened;
    const { newest } = store.trouble;
    const isAway = newest?.untilWritten === true && newest.title === undefined;
    return isAway && this.#aloneSince !== null && world.clock.monotonic() - this.#aloneSince >= unseenAfterMs;
  }

  /** Whether an outage that this replica announced lasts, perhaps since an earlier process. */
  async #isOpen(): Promise<boolean> {
    if (!this.#mayBeOpen) return false;
    const outage = await this.#opened.store.outage().catch(() => 'unknown' as const);
    this.#mayBeOpen = outage !== null;
    return outage !== null && outage !== 'unknown';
  }
}

export function nameReplica(name: string, failure: StoreFailure): StoreFailure {
  return { ...failure, said: `replica ${name} says: ${failure.said}` };
}

/** While PostgreSQL is away, each of several replicas may notify people of it: then the message names the one that does. */
export function saidBy(membership: Membership, failure: StoreFailure): StoreFailure {
  const hasOthers = membership.replicas().some(({ id }) => id !== membership.self);
  return hasOthers && failure.title === undefined ? nameReplica(replicaName, failure) : failure;
}
