// What the outbox holds for one channel, kept in memory: it is read again when something changed it, not at every look.
import type { Delivery } from '../model/delivery.ts';
import type { OutboxCount } from '../model/outbox.ts';
import { dayMs, minuteMs } from '../model/time.ts';
import type { Clock } from '../world.ts';
import type { Outbox } from './outbox-store.ts';

/** Pending deliveries that one look takes: among so many a message that can't be sent is passed by. */
const lookLimit = 100;
/** How long a given-up message is counted beside its channel. */
const givenUpShownMs = 7 * dayMs;
/** Then it is read without a change: a given-up message is counted no longer, or a change was not noticed. */
const keptMs = 10 * minuteMs;

export interface ChannelContents {
  /** In order of sequence, also those that are not due yet. */
  readonly pending: readonly Delivery[];
  readonly counts: Omit<OutboxCount, 'channel'>;
}

const empty: ChannelContents = { pending: [], counts: { pending: 0, oldestPendingAt: null, givenUp: 0 } };

export class ChannelOutbox {
  readonly #channel: string;
  readonly #outbox: Outbox;
  readonly #clock: Clock;
  #contents = empty;
  /** On the monotonic scale: when it is read again. */
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(channel: string, outbox: Outbox, clock: Clock) {
    this.#channel = channel;
    this.#outbox = outbox;
    this.#clock = clock;
  }

  /** Something was written, or is about to be: what is known is not relied on any more. */
  changed(): void {
    this.#readAt = Number.NEGATIVE_INFINITY;
  }

  async contents(): Promise<ChannelContents> {
    const now = this.#clock.monotonic();
    if (now < this.#readAt) return this.#contents;
    // Before the reads: a change while they are under way counts.
    this.#readAt = now + keptMs;
    try {
      const pending = await this.#outbox.pendingDeliveries(this.#channel, lookLimit);
      const state = await this.#outbox.outboxState(this.#clock.now() - givenUpShownMs);
      const counts = state.find(({ channel }) => channel === this.#channel) ?? empty.counts;
      this.#contents = { pending, counts };
    } catch (error) {
      this.changed();
      throw error;
    }
    return this.#contents;
  }
}
