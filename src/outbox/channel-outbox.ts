// What the outbox holds for one channel. An outcome that the store can't take is kept here: what was sent is not sent again because its
// record failed.
import { maxRetryAfterMs, type SendOutcome } from '../channels/channel.ts';
import { type AttemptSettlement, type Delivery, type DeliverySettlement, deliveryAfter } from '../core/delivery.ts';
import type { OutboxCount } from '../core/outbox.ts';
import { dayMs, type EpochMs, hourMs, minuteMs, secondMs } from '../core/time.ts';
import type { Clock } from '../world/world.ts';
import { reminderAmong } from './delivery-of.ts';
import type { Outbox } from './outbox-store.ts';

/** Pending deliveries that one look takes: among so many a message that can't be sent is passed by. */
const lookLimit = 100;
/** How long a given-up message is counted beside its channel. */
const undeliveredShownMs = 7 * dayMs;

interface ChannelContents {
  /** In order of sequence, also those that are not due yet. */
  readonly pending: readonly Delivery[];
  readonly counts: Omit<OutboxCount, 'channel'>;
}

const noneWaiting = { pending: 0, oldestPendingAt: null, undelivered: 0 };

export class ChannelOutbox {
  readonly #channel: string;
  readonly #outbox: Outbox;
  readonly #clock: Clock;
  /** Outcomes that the store has not taken yet, of each delivery in order. */
  readonly #unrecorded = new Map<string, DeliverySettlement[]>();

  constructor(channel: string, outbox: Outbox, clock: Clock) {
    this.#channel = channel;
    this.#outbox = outbox;
    this.#clock = clock;
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
    const pending = await this.#outbox.pendingDeliveries(this.#channel, lookLimit);
    const state = await this.#outbox.outboxState(this.#clock.now() - undeliveredShownMs);
    const counts = state.find(({ channel }) => channel === this.#channel) ?? noneWaiting;
    return { pending: this.#afterOutcomes(pending), counts };
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

// Which delivery of a channel is sent next. Messages about the same alert keep their order; one message that its receiver
// can't digest does not keep the others waiting. Pure.

/** So often a message is tried before the ones behind it get their turn. Until then everything keeps its order. */
const triesInOrder = 3;

interface Turn {
  /** null: nothing is due. */
  readonly delivery: Delivery | null;
  /** How long until the next one is due, milliseconds; 0 with a delivery, Infinity without any. */
  readonly waitMs: number;
}

interface TurnContext {
  readonly now: EpochMs;
  /** How long the channel still rests after a failure, milliseconds. A message that was never tried need not wait for it. */
  readonly restMs: number;
  /** Whether a delivery waits for a receiver that has answered since: then it is due at once. */
  readonly revived: (id: string) => boolean;
}

/** `pending` in order of sequence. */
export function nextDelivery(pending: readonly Delivery[], patience: TurnContext): Turn {
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
  const covered = new Set<string>();
  return pending.filter(({ alerts }) => {
    const isBehind = alerts.some((name) => covered.has(name));
    for (const name of alerts) covered.add(name);
    return !isBehind;
  });
}

function waitOf({ id, attempts, nextAttemptAt }: Delivery, { now, restMs, revived }: TurnContext): number {
  const wait = nextAttemptAt - now;
  // No wait is longer than the longest that a receiver may ask for: if it is, the clock was set back.
  const own = wait > maxRetryAfterMs || revived(id) ? 0 : Math.max(0, wait);
  return attempts === 0 ? own : Math.max(own, restMs);
}

function triesOf({ attempts }: Delivery): number {
  return attempts < triesInOrder ? 0 : attempts;
}

// What becomes of a delivery after an attempt: sent, tried again at a time, or given up. Pure.

const firstRetryMs = secondMs;
const longestRetryMs = 15 * minuteMs;
/**
 * Waits between attempts that the receiver blamed on the request. A deployment or a proxy that blames everything for a
 * quarter of an hour costs nothing; after the last wait the delivery gets one more attempt.
 */
const refusedWaitsMs = [15 * secondMs, minuteMs, 4 * minuteMs, longestRetryMs];
const giveUpAfterMs = dayMs;
/** How soon a receiver that wants nothing any more is asked again. */
export const goneAgainMs = hourMs;
/** Age alone ends nothing: after two days without power a message deserves its attempts. */
const minAttempts = 5;

type FailedOutcome = Extract<SendOutcome, { readonly kind: 'failed' | 'refused' | 'gone' }>;

export interface SettledAttempt {
  readonly delivery: Delivery;
  readonly outcome: SendOutcome;
  /** Refusals in a row of this delivery, this attempt included. */
  readonly refusals: number;
  /** In [0, 1): full jitter. */
  readonly random: number;
  readonly now: EpochMs;
}

/** The settlement of an attempt: given up after a day, after five refusals in a row, or where it is final. */
export function settlementOf(attempt: SettledAttempt): AttemptSettlement {
  const { delivery, outcome, refusals, random, now } = attempt;
  if (outcome.kind === 'sent') return { kind: 'sent', detail: outcome.detail ?? null, at: now };
  const { detail } = outcome;
  if (outcome.kind === 'unanswered') return { kind: 'sent', detail, at: now };
  if (outcome.kind === 'accepted') {
    const { receipt, againInMs } = outcome;
    return { kind: 'accepted', receipt, nextAttemptAt: now + againInMs, detail, at: now };
  }
  const attempts = delivery.attempts + 1;
  // A receiver that wants nothing is asked too seldom for five attempts each.
  const isOld = now - delivery.createdAt >= giveUpAfterMs && (attempts >= minAttempts || outcome.kind === 'gone');
  if (isOld || isFinal(outcome, refusals)) return { kind: 'undelivered', detail, at: now };
  const wait = Math.max(leastWaitMs(outcome, refusals), backOffMs(attempts, random));
  return { kind: 'failed', nextAttemptAt: now + wait, detail, at: now };
}

/** The least wait after an attempt: what the receiver asked for, or what its refusal calls for. */
export function leastWaitMs(outcome: FailedOutcome, refusals: number): number {
  if (outcome.kind === 'gone') return goneAgainMs;
  const least = outcome.kind === 'refused' ? (refusedWaitsMs[refusals - 1] ?? longestRetryMs) : 0;
  return Math.max(least, outcome.retryAfterMs ?? 0);
}

function isFinal(outcome: SendOutcome, refusals: number): boolean {
  if (outcome.kind === 'refused') return refusals > refusedWaitsMs.length;
  return outcome.kind === 'failed' && outcome.final;
}

/** The wait after so many failures in a row: exponential with full jitter, 1 s to 15 min. */
export function backOffMs(failures: number, random: number): number {
  const ceiling = Math.min(longestRetryMs, firstRetryMs * 2 ** Math.min(failures - 1, 20));
  return Math.max(firstRetryMs, Math.ceil(random * ceiling));
}
