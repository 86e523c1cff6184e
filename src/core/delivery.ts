// One message for one channel, from the moment it is written down until the receiver took it or it was given up.
import type { Transition } from './alert.ts';
import type { EpochMs } from './time.ts';

/** A transition as the store keeps it, in the order of its id. */
export interface StoredTransition {
  readonly id: number;
  readonly transition: Transition;
}

/** What every delivery has, in whatever state it is. */
interface Message {
  /** The same on every retry (the `webhook-id` of Standard Webhooks). */
  readonly id: string;
  readonly channel: string;
  /** What belongs together in one message. */
  readonly group: string;
  /** Grows within a channel: the order of sending. */
  readonly sequence: number;
  /** Fingerprints of alerts, and what else keeps its order with this message. A later message about one of them waits behind it. */
  readonly alerts: readonly string[];
  /** The body, frozen when it was made: retries send the same bytes. */
  readonly payload: string;
  /** One line for the page and the terminal. */
  readonly title: string;
  readonly attempts: number;
  readonly createdAt: EpochMs;
  /** When it is to be sent (again), or its receiver asked for the end. */
  readonly nextAttemptAt: EpochMs;
  /** What the last attempt said. */
  readonly detail: string | null;
}

/** To be sent, or sent again. */
interface PendingDelivery extends Message {
  readonly state: 'pending';
  readonly settledAt: null;
  readonly begunAt: null;
  readonly receipt: null;
}

/** An attempt that must not be repeated blindly began, and its outcome is not recorded. */
interface BegunDelivery extends Message {
  readonly state: 'begun';
  readonly settledAt: null;
  readonly begunAt: EpochMs;
  readonly receipt: null;
}

/** The receiver took it and works on it. */
interface AcceptedDelivery extends Message {
  readonly state: 'accepted';
  readonly settledAt: null;
  readonly begunAt: null;
  /** What its channel needs to ask for the end. Opaque to all others. */
  readonly receipt: string;
}

/** sent: the receiver said yes. dead: given up, visible, kept. replaced: a reminder in whose place a newer one was sent. */
export interface SettledDelivery extends Message {
  readonly state: 'sent' | 'dead' | 'replaced';
  readonly settledAt: EpochMs;
  readonly begunAt: null;
  /** What it was accepted with. */
  readonly receipt: string | null;
}

/** `pendingDelivery` makes one; `deliveryAfter` alone brings it from one state into another. */
export type Delivery = PendingDelivery | BegunDelivery | AcceptedDelivery | SettledDelivery;
export type DeliveryState = Delivery['state'];

type Listed<Of extends Message> = Of extends Message ? Omit<Of, 'payload'> : never;
/** A delivery as lists show it: its text may be half a megabyte. */
export type ListedDelivery = Listed<Delivery>;

/** What the list of deliveries is ordered by. */
export type DeliveryPlace = Pick<Delivery, 'createdAt' | 'sequence' | 'id'>;

/** A delivery before the store gave it its place in the channel's order. */
export type NewDelivery = Pick<Delivery, 'id' | 'channel' | 'group' | 'payload' | 'title' | 'alerts'>;

/** Due at once, and not tried (any more): of a new delivery, and of one that a person wants sent once more. */
export function untried(at: EpochMs) {
  return {
    state: 'pending',
    attempts: 0,
    nextAttemptAt: at,
    settledAt: null,
    begunAt: null,
    receipt: null,
  } as const satisfies Partial<PendingDelivery>;
}

/** A delivery that waits for its first attempt. `sequence` is 0 for one that stands in no outbox. */
export function pendingDelivery(fresh: NewDelivery, now: EpochMs, sequence = 0): PendingDelivery {
  return { ...fresh, sequence, ...untried(now), createdAt: now, detail: null };
}

/** How the store, the page and the JSON know a state: what was begun or accepted is pending. */
export function publicState({ state }: Pick<Delivery, 'state'>): 'pending' | SettledDelivery['state'] {
  return state === 'begun' || state === 'accepted' ? 'pending' : state;
}

/** Which undelivered messages are meant; null: any. */
export interface WhichUndelivered {
  readonly channel: string | null;
  readonly delivery: string | null;
}

// From one state of a delivery into another: every change of state is one of these. Pure.

/** What becomes of a delivery after an attempt; `detail` is what the receiver said, in a sentence. */
export type AttemptSettlement = (Accepted | Failed | Settled) & { readonly at: EpochMs };
/** What becomes of it after an attempt, or of what was sent in its place. */
export type DeliverySettlement = AttemptSettlement | (Replaced & { readonly at: EpochMs });
type Unsettled = PendingDelivery | BegunDelivery | AcceptedDelivery;

/** The receiver works on it: this was no attempt that failed. */
interface Accepted {
  readonly kind: 'accepted';
  readonly receipt: string;
  readonly nextAttemptAt: EpochMs;
  readonly detail: string | null;
}

/** To be tried again. */
interface Failed {
  readonly kind: 'failed';
  readonly nextAttemptAt: EpochMs;
  readonly detail: string | null;
}

interface Settled {
  readonly kind: 'sent' | 'undelivered';
  readonly detail: string | null;
}

/** It was not sent: a newer one was. */
interface Replaced {
  readonly kind: 'replaced';
  readonly detail: string;
}

/** An attempt that must not be repeated blindly is about to be made. */
interface Begun {
  readonly kind: 'begun';
}

/** A person wants it sent once more. */
interface Resent {
  readonly kind: 'resent';
}

/** What happens to a delivery, and when. */
export type DeliveryEvent = DeliverySettlement | ((Begun | Resent) & { readonly at: EpochMs });

/** The delivery after the event. Throws where the event can't happen in its state: that is a mistake of ours. */
export function deliveryAfter(delivery: Delivery, event: DeliveryEvent): Delivery {
  switch (delivery.state) {
    case 'pending':
      if (event.kind === 'begun') return { ...delivery, state: 'begun', begunAt: event.at };
      if (event.kind === 'replaced') {
        const { detail, at } = event;
        return { ...delivery, state: 'replaced', detail, nextAttemptAt: at, settledAt: at };
      }
      if (event.kind !== 'resent') return settled(delivery, event);
      break;
    case 'begun':
    case 'accepted':
      if (event.kind !== 'begun' && event.kind !== 'resent' && event.kind !== 'replaced')
        return settled(delivery, event);
      break;
    case 'dead':
      if (event.kind === 'resent') return { ...delivery, ...untried(event.at) };
      break;
    case 'sent':
    case 'replaced':
      break;
  }
  throw new Error(`delivery ${delivery.id}: nothing leads from ${delivery.state} by ${event.kind}`);
}

function settled(delivery: Unsettled, event: AttemptSettlement): Unsettled | SettledDelivery {
  const { detail, at } = event;
  if (event.kind === 'accepted') {
    const { receipt, nextAttemptAt } = event;
    return { ...delivery, state: 'accepted', begunAt: null, receipt, nextAttemptAt, detail };
  }
  const tried = { attempts: delivery.attempts + 1, begunAt: null, detail };
  if (event.kind !== 'failed') {
    const state = event.kind === 'sent' ? 'sent' : 'dead';
    return { ...delivery, ...tried, state, nextAttemptAt: at, settledAt: at };
  }
  const { nextAttemptAt } = event;
  // Whoever took it has it still.
  if (delivery.state === 'accepted') return { ...delivery, ...tried, nextAttemptAt };
  return { ...delivery, ...tried, state: 'pending', nextAttemptAt };
}
