// One message for one channel, from the moment it is written down until the receiver took it or it was given up.
import type { Transition } from './alert.ts';
import type { EpochMs } from './time.ts';

/** A transition as the store keeps it, in the order of its id. */
export interface StoredTransition {
  readonly id: number;
  readonly transition: Transition;
}

/** pending: to be sent (again). sent: the receiver said yes. dead: given up, visible, kept. */
export type DeliveryState = 'pending' | 'sent' | 'dead';

export interface Delivery {
  /** The same on every retry (the `webhook-id` of Standard Webhooks). */
  readonly id: string;
  readonly channel: string;
  /** What belongs together in one message. */
  readonly group: string;
  /** Grows within a channel: the order of sending. */
  readonly sequence: number;
  /** The body, frozen when it was made: retries send the same bytes. */
  readonly payload: string;
  /** One line for the page and the terminal. */
  readonly title: string;
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly createdAt: EpochMs;
  readonly nextAttemptAt: EpochMs;
  readonly settledAt: EpochMs | null;
  /** What the last attempt said. */
  readonly detail: string | null;
  /** Fingerprints of the alerts that it tells of: what tells of one of them later waits behind it. */
  readonly alerts: readonly string[];
  /** An attempt that must not be repeated blindly began at this moment, and its outcome is not recorded. */
  readonly begunAt: EpochMs | null;
  /** The receiver took it and works on it: what its channel needs to ask for the end. Opaque to all others. */
  readonly receipt: string | null;
}

/** A delivery before the store gave it its place in the channel's order. */
export type NewDelivery = Pick<Delivery, 'id' | 'channel' | 'group' | 'payload' | 'title' | 'alerts'>;

/** A delivery that waits for its first attempt. `sequence` is 0 for one that stands in no outbox. */
export function pendingDelivery(fresh: NewDelivery, now: EpochMs, sequence = 0): Delivery {
  return {
    ...fresh,
    sequence,
    state: 'pending',
    attempts: 0,
    createdAt: now,
    nextAttemptAt: now,
    settledAt: null,
    detail: null,
    begunAt: null,
    receipt: null,
  };
}

/** Which undelivered messages are meant; null: any. */
export interface WhichUndelivered {
  readonly channel: string | null;
  readonly delivery: string | null;
}
