// Turns recorded transitions into deliveries once their groups have waited long enough.
import { createHash } from 'node:crypto';
import { type DueGroup, dueGroups, type GroupMessage, messageOf } from '../alert/grouping.ts';
import { type AlertRoute, channelsFor } from '../alert/routing.ts';
import type { Alert, Transition } from '../model/alert.ts';
import type { NewDelivery } from '../model/delivery.ts';
import type { EpochMs } from '../model/time.ts';
import type { Clock, Log } from '../world.ts';
import type { Channel, Rendered } from './channel.ts';
import type { OutboxStore } from './outbox-store.ts';

/** How messages are grouped and where they go. */
export interface NotifySettings {
  readonly groupWaitMs: number;
  readonly groupIntervalMs: number;
  /** Without any: every channel gets warning and critical. */
  readonly routes: readonly AlertRoute[];
}

export interface CollectorParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly store: OutboxStore;
  readonly channels: readonly Channel[];
  readonly settings: NotifySettings;
  /** The alert as it is believed now: what fired is told with the newest facts. */
  readonly current: (fingerprint: string) => Alert | undefined;
  /** Called after deliveries were recorded. */
  readonly recorded: () => void;
}

/** Transitions that one look takes. */
const lookLimit = 10_000;
/** A look without any reason, in case that a wake was missed. */
export const idleMs = 30_000;

export class Collector {
  readonly #parts: CollectorParts;
  /** Since restarts forget it, the first message of a group after one goes out without the interval. */
  readonly #lastTold = new Map<string, EpochMs>();
  /** The next look, on the monotonic scale. */
  #lookAt = Number.NEGATIVE_INFINITY;

  constructor(parts: CollectorParts) {
    this.#parts = parts;
  }

  /** Something was committed. It waits for group_wait anyway, so a look before that would be in vain. */
  noticed(): void {
    const { clock, settings } = this.#parts;
    this.#lookAt = Math.min(this.#lookAt, clock.monotonic() + settings.groupWaitMs);
  }

  /** One look, if it is time. Returns how long to wait for the next one, milliseconds. */
  async step(): Promise<number> {
    const { clock } = this.#parts;
    const early = this.#lookAt - clock.monotonic();
    if (early > 0) return early;
    // What is committed while we look moves this down again.
    this.#lookAt = clock.monotonic() + idleMs;
    try {
      const next = await this.#look();
      this.#lookAt = Math.min(this.#lookAt, clock.monotonic() + next);
    } catch (error) {
      this.#lookAt = Number.NEGATIVE_INFINITY;
      throw error;
    }
    return Math.max(0, this.#lookAt - clock.monotonic());
  }

  /** Records what is due. Returns when something may be due next, milliseconds from now. */
  async #look(): Promise<number> {
    const { clock, store, settings } = this.#parts;
    const untold = await store.untoldTransitions(lookLimit);
    const now = clock.now();
    const { groupWaitMs, groupIntervalMs } = settings;
    const lastTold = (group: string) => this.#lastTold.get(group);
    const full = untold.length >= lookLimit;
    const { due, nextDueAt } = dueGroups(untold, { now, groupWaitMs, groupIntervalMs, lastTold, full });
    if (due.length > 0) await this.#record(due, now);
    return full ? 0 : Math.min(idleMs, (nextDueAt ?? Number.POSITIVE_INFINITY) - now);
  }

  async #record(due: readonly DueGroup[], now: EpochMs): Promise<void> {
    const deliveries = due.flatMap((group) => this.#deliveriesOf(group, now));
    const transitionIds = due.flatMap(({ untold }) => untold.map(({ id }) => id));
    await this.#parts.store.recordDeliveries({ transitionIds, deliveries, now });
    for (const { group } of deliveries) this.#lastTold.set(group, now);
    for (const [group, at] of this.#lastTold) {
      if (Math.abs(now - at) > this.#parts.settings.groupIntervalMs) this.#lastTold.delete(group);
    }
    if (deliveries.length > 0) this.#parts.recorded();
  }

  /** One message a channel, with the alerts that its routes want. */
  #deliveriesOf({ group, untold }: DueGroup, now: EpochMs): NewDelivery[] {
    const { channels, settings } = this.#parts;
    const names = channels.map(({ name }) => name);
    const routed = untold.map((stored) => ({
      stored,
      to: channelsFor(stored.transition.alert, settings.routes, names),
    }));
    return channels.flatMap((channel) => {
      const wanted = routed.filter(({ to }) => to.includes(channel.name)).map(({ stored }) => stored);
      const transitions = wanted.map(({ transition }) => this.#withNewestFacts(transition));
      const message = messageOf(group, transitions, now);
      const rendered = message && this.#render(channel, message);
      if (!rendered) return [];
      const { payload, title } = rendered;
      const ids = wanted.map(({ id }) => id);
      return [
        { id: deliveryId([channel.name, group, ids.join(), payload]), channel: channel.name, group, payload, title },
      ];
    });
  }

  /** While a message waited for its group its alert may have grown: a list got longer, a count rose. */
  #withNewestFacts(transition: Transition): Transition {
    const now = transition.kind === 'firing' ? this.#parts.current(transition.alert.fingerprint) : undefined;
    const same = now?.status === 'firing' && now.firingAt === transition.alert.firingAt;
    return same ? { ...transition, alert: { ...transition.alert, facts: now.facts } } : transition;
  }

  /** A channel that can't write a message down must not keep the others from being told. */
  #render(channel: Channel, message: GroupMessage): Rendered | null {
    try {
      return channel.render(message);
    } catch (error) {
      const { group } = message;
      this.#parts.log.error(
        { channel: channel.name, group, err: error },
        'A message could not be written down: given up.',
      );
      return null;
    }
  }
}

/** Unique because transition ids are, and also between two installations with one receiver, because payloads differ. */
function deliveryId(parts: readonly string[]): string {
  return `msg_${createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 27)}`;
}
