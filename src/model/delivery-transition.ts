// From one state of a delivery into another: every change of state is one of these. Pure.
import type { AcceptedDelivery, BegunDelivery, Delivery, PendingDelivery, SettledDelivery } from './delivery.ts';
import { untried } from './delivery.ts';
import type { EpochMs } from './time.ts';

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
