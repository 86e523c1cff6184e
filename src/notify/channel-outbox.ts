// What the outbox holds for one channel, kept in memory: it is read again when something changed it, not at every look.
// An outcome that the store can't take is kept here too: what was sent is not sent again because its record failed.
import type { Delivery } from '../model/delivery.ts';
import { type DeliverySettlement, deliveryAfter } from '../model/delivery-transition.ts';
import type { OutboxCount } from '../model/outbox.ts';
import { dayMs, minuteMs } from '../model/time.ts';
import type { Clock } from '../world.ts';
import type { Outbox } from './outbox-store.ts';

/** Pending deliveries that one look takes: among so many a message that can't be sent is passed by. */
const lookLimit = 100;
/** How long a given-up message is counted beside its channel. */
const undeliveredShownMs = 7 * dayMs;
/** Then it is read without a change: a given-up message is counted no longer, or a change was not noticed. */
const keptMs = minuteMs;

export interface ChannelContents {
  /** In order of sequence, also those that are not due yet. */
  readonly pending: readonly Delivery[];
  readonly counts: Omit<OutboxCount, 'channel'>;
}

const empty: ChannelContents = { pending: [], counts: { pending: 0, oldestPendingAt: null, undelivered: 0 } };

export class ChannelOutbox {
  readonly #channel: string;
  readonly #outbox: Outbox;
  readonly #clock: Clock;
  #contents = empty;
  /** On the monotonic scale: when it is read again. */
  #readAt = Number.NEGATIVE_INFINITY;
  /** Outcomes that the store has not taken yet, of each delivery in order. */
  readonly #unrecorded = new Map<string, DeliverySettlement[]>();

  constructor(channel: string, outbox: Outbox, clock: Clock) {
    this.#channel = channel;
    this.#outbox = outbox;
    this.#clock = clock;
  }

  /** Something was written, or is about to be: what is known is not relied on any more. */
  changed(): void {
    this.#readAt = Number.NEGATIVE_INFINITY;
  }

  /** Whether there are outcomes that the store has not taken. Until it has, a restart would send those messages again. */
  get isBehind(): boolean {
    return this.#unrecorded.size > 0;
  }

  /** What came of an attempt. Never rejects: the store counts and shows its own failures, and `catchUp` tries again. */
  async settle(id: string, settlement: DeliverySettlement): Promise<void> {
    this.#unrecorded.set(id, [...(this.#unrecorded.get(id) ?? []), settlement]);
    await this.catchUp();
  }

  /** Records what could not be recorded, up to the first that still can't. */
  async catchUp(): Promise<void> {
    for (const [id, settlements] of this.#unrecorded) {
      this.changed();
      try {
        for (const settlement of [...settlements]) {
          await this.#outbox.settleDelivery(id, settlement);
          settlements.shift();
        }
      } catch {
        return;
      }
      this.#unrecorded.delete(id);
    }
  }

  async contents(): Promise<ChannelContents> {
    const now = this.#clock.monotonic();
    if (now < this.#readAt) return this.#contents;
    // Before the reads: a change while they are under way counts.
    this.#readAt = now + keptMs;
    try {
      const pending = await this.#outbox.pendingDeliveries(this.#channel, lookLimit);
      const state = await this.#outbox.outboxState(this.#clock.now() - undeliveredShownMs);
      const counts = state.find(({ channel }) => channel === this.#channel) ?? empty.counts;
      this.#contents = { pending: this.#afterOutcomes(pending), counts };
    } catch (error) {
      this.changed();
      throw error;
    }
    return this.#contents;
  }

  /** As they would stand in the store if it had taken every outcome. */
  #afterOutcomes(stored: readonly Delivery[]): readonly Delivery[] {
    if (!this.isBehind) return stored;
    // Of a delivery that doesn't wait any more nothing is left to record: its store was replaced, say.
    const waiting = new Set(stored.map(({ id }) => id));
    for (const id of this.#unrecorded.keys()) if (!waiting.has(id)) this.#unrecorded.delete(id);
    return stored
      .map((delivery) => (this.#unrecorded.get(delivery.id) ?? []).reduce<Delivery>(deliveryAfter, delivery))
      .filter(({ settledAt }) => settledAt === null);
  }
}
