// Which delivery of a channel is sent next. Messages about the same alert keep their order; one message that its receiver
// can't digest does not keep the others waiting. Pure.
import { maxRetryAfterMs } from '../channels/channel.ts';
import { CoveredAlerts } from '../model/alert-marks.ts';
import type { Delivery } from '../model/delivery.ts';
import type { EpochMs } from '../model/time.ts';
import { reminderAmong } from './delivery-of.ts';

/** So often a message is tried before the ones behind it get their turn. Until then everything keeps its order. */
const triesInOrder = 3;

export interface Turn {
  /** null: nothing is due. */
  readonly delivery: Delivery | null;
  /** How long until the next one is due, milliseconds; 0 with a delivery, Infinity without any. */
  readonly waitMs: number;
}

export interface Patience {
  readonly now: EpochMs;
  /** How long the channel still rests after a failure, milliseconds. A message that was never tried need not wait for it. */
  readonly restMs: number;
  /** Whether a delivery waits for a receiver that has answered since: then it is due at once. */
  readonly revived: (id: string) => boolean;
}

/** `pending` in order of sequence. */
export function nextDelivery(pending: readonly Delivery[], patience: Patience): Turn {
  const free = firstOfEachAlert(pending).map((delivery) => ({ delivery, wait: waitOf(delivery, patience) }));
  const due = free.filter(({ wait }) => wait <= 0).map(({ delivery }) => delivery);
  const [delivery] = due.sort((one, other) => triesOf(one) - triesOf(other) || one.sequence - other.sequence);
  if (delivery) return { delivery, waitMs: 0 };
  return { delivery: null, waitMs: Math.min(Number.POSITIVE_INFINITY, ...free.map(({ wait }) => wait)) };
}

/**
 * What is sent in place of a delivery, and what that replaces, the delivery included: after an outage, of the reminders about
 * the same alerts that waited, people read the newest.
 */
export function newestOf(
  delivery: Delivery,
  pending: readonly Delivery[],
): { readonly sent: Delivery; readonly replaced: readonly Delivery[] } {
  const reminder = reminderAmong(delivery.alerts);
  const same = reminder === undefined ? [delivery] : pending.filter(({ alerts }) => alerts[0] === reminder);
  return { sent: same.at(-1) ?? delivery, replaced: same.slice(0, -1) };
}

/** Those that wait behind no other one about the same alert. */
function firstOfEachAlert(pending: readonly Delivery[]): readonly Delivery[] {
  const covered = new CoveredAlerts();
  return pending.filter((delivery) => {
    const isBehind = covered.hasAnyOf(delivery);
    covered.add(delivery);
    return !isBehind;
  });
}

function waitOf({ id, attempts, nextAttemptAt }: Delivery, { now, restMs, revived }: Patience): number {
  const wait = nextAttemptAt - now;
  // No wait is longer than the longest that a receiver may ask for: if it is, the clock was set back.
  const own = wait > maxRetryAfterMs || revived(id) ? 0 : Math.max(0, wait);
  return attempts === 0 ? own : Math.max(own, restMs);
}

function triesOf({ attempts }: Delivery): number {
  return attempts < triesInOrder ? 0 : attempts;
}
