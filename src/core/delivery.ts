// Message for a channel, from its first record until the receiver took it or it was given up.
import type { Transition } from './alert.ts';
import type { EpochMs } from './time.ts';

export interface StoredTransition {
  readonly id: number;
  readonly transition: Transition;
}

interface Message {
  /** The same on every retry (the `webhook-id` of Standard Webhooks). */
  readonly id: string;
  readonly channel: string;
  readonly group: string;
  readonly sequence: number;
  /** Fingerprints of alerts, and other keys of the order: a later message with one of them waits behind this one. */
  readonly alerts: readonly string[];
  /** The body as it was made first: retries send the same bytes. */
  readonly payload: string;
  readonly title: string;
  readonly attempts: number;
  readonly createdAt: EpochMs;
  /** Time of the next attempt, or of the next question about an accepted message. */
  readonly nextAttemptAt: EpochMs;
  readonly detail: string | null;
}

interface DeliveryIn<State, SettledAt, BegunAt, Receipt> extends Message {
  readonly state: State;
  readonly settledAt: SettledAt;
  readonly begunAt: BegunAt;
  /** Handle by which the channel asks for the outcome. */
  readonly receipt: Receipt;
}

type PendingDelivery = DeliveryIn<'pending', null, null, null>;
/** State of an attempt without a recorded outcome, which must not be repeated blindly. */
type BegunDelivery = DeliveryIn<'begun', null, EpochMs, null>;
type AcceptedDelivery = DeliveryIn<'accepted', null, null, string>;
/** undelivered: given up, visible, kept. */
type SettledDelivery = DeliveryIn<'sent' | 'undelivered', EpochMs, null, string | null>;

/** `pendingDelivery` makes one; `deliveryAfter` alone brings it from one state into another. */
export type Delivery = PendingDelivery | BegunDelivery | AcceptedDelivery | SettledDelivery;
export type DeliveryState = Delivery['state'];

type Listed<Of extends Message> = Of extends Message ? Omit<Of, 'payload'> : never;
/** A delivery without its text, which may be half a megabyte. */
export type ListedDelivery = Listed<Delivery>;

export type DeliveryPlace = Pick<Delivery, 'createdAt' | 'sequence' | 'id'>;

export type NewDelivery = Pick<Delivery, 'id' | 'channel' | 'group' | 'payload' | 'title' | 'alerts'>;

/** Fields of a delivery that is due at once: a new one, or one that a person wants sent again. */
function untried(at: EpochMs) {
  return {
    state: 'pending',
    attempts: 0,
    nextAttemptAt: at,
    settledAt: null,
    begunAt: null,
    receipt: null,
  } as const satisfies Partial<PendingDelivery>;
}

export function pendingDelivery(fresh: NewDelivery, now: EpochMs, sequence = 0): PendingDelivery {
  return { ...fresh, sequence, ...untried(now), createdAt: now, detail: null };
}

export function publicState({ state }: Pick<Delivery, 'state'>): 'pending' | SettledDelivery['state'] {
  return state === 'begun' || state === 'accepted' ? 'pending' : state;
}

export interface WhichUndelivered {
  readonly channel: string | null;
  readonly delivery: string | null;
}

/** Outcome of an attempt. An accepted message is neither sent nor failed yet. */
export type AttemptSettlement = { readonly at: EpochMs; readonly detail: string | null } & (
  | { readonly kind: 'accepted'; readonly receipt: string; readonly nextAttemptAt: EpochMs }
  | { readonly kind: 'failed'; readonly nextAttemptAt: EpochMs }
  | { readonly kind: 'sent' | 'undelivered' }
);
type Unsettled = PendingDelivery | BegunDelivery | AcceptedDelivery;

/** begun: an attempt that must not be repeated blindly starts. resent: a person wants the message sent again. */
export type DeliveryEvent =
  | AttemptSettlement
  | { readonly kind: 'begun'; readonly at: EpochMs }
  | { readonly kind: 'resent'; readonly at: EpochMs };

/** Throws where the event can't happen in the delivery's state: that is a mistake of ours. */
export function deliveryAfter(delivery: Delivery, event: DeliveryEvent): Delivery {
  const { state } = delivery;
  const { kind, at } = event;
  if (kind === 'begun' && state === 'pending') return { ...delivery, state: 'begun', begunAt: at };
  if (kind === 'resent' && state === 'undelivered') return { ...delivery, ...untried(at) };
  const isAttempt = kind !== 'begun' && kind !== 'resent';
  if (isAttempt && (state === 'pending' || state === 'begun' || state === 'accepted')) return settled(delivery, event);
  throw new Error(`delivery ${delivery.id}: nothing leads from ${state} by ${kind}`);
}

function settled(delivery: Unsettled, event: AttemptSettlement): Unsettled | SettledDelivery {
  const { detail, at } = event;
  if (event.kind === 'accepted') {
    const { receipt, nextAttemptAt } = event;
    return { ...delivery, state: 'accepted', begunAt: null, receipt, nextAttemptAt, detail };
  }
  const tried = { attempts: delivery.attempts + 1, begunAt: null, detail };
  if (event.kind !== 'failed') {
    const { kind: state } = event;
    return { ...delivery, ...tried, state, nextAttemptAt: at, settledAt: at };
  }
  const { nextAttemptAt } = event;
  // An accepted delivery stays with the receiver.
  if (delivery.state === 'accepted') return { ...delivery, ...tried, nextAttemptAt };
  return { ...delivery, ...tried, state: 'pending', nextAttemptAt };
}
