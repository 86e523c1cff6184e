// Outbox of one channel. Keeps an outcome that the store can't record: a sent message is not sent again because its
// record failed.
import { maxRetryAfterMs, type SendOutcome } from '../channels/channel.ts';
import { type AttemptSettlement, type Delivery, deliveryAfter } from '../core/delivery.ts';
import type { ChannelState } from '../core/fleet/fleet.ts';
import type { OutboxCount } from '../core/records.ts';
import { dayMs, type EpochMs, minuteMs, secondMs } from '../core/time.ts';
import type { StoredOutbox } from '../store/outbox.ts';
import type { Clock } from '../world/world.ts';

/** Maximum number of pending deliveries in one look: large enough to pass by messages that can't be sent. */
const lookLimit = 500;
const undeliveredShownMs = 7 * dayMs;

/** Undelivered messages are shown that were given up since. */
export const undeliveredSince = (now: EpochMs): EpochMs => now - undeliveredShownMs;

const noneWaiting = { pending: 0, oldestPendingAt: null, undelivered: 0 };

export class ChannelOutbox {
  readonly #channel: string;
  readonly #outbox: StoredOutbox;
  readonly #clock: Clock;
  /** Outcomes that the store has not recorded yet, in order, by delivery. */
  readonly #unrecorded = new Map<string, AttemptSettlement[]>();

  constructor(channel: string, outbox: StoredOutbox, clock: Clock) {
    this.#channel = channel;
    this.#outbox = outbox;
    this.#clock = clock;
  }

  /** True if the store lacks some outcomes. Until it has them, a restart would send those messages again. */
  get isBehind(): boolean {
    return this.#unrecorded.size > 0;
  }

  /** Settles an attempt. Never rejects: the store counts and shows its own failures, and `catchUp` tries again. */
  async settle(id: string, settlement: AttemptSettlement): Promise<void> {
    this.#unrecorded.set(id, [...(this.#unrecorded.get(id) ?? []), settlement]);
    await this.catchUp();
  }

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

  async contents(): Promise<{ readonly pending: readonly Delivery[]; readonly counts: Omit<OutboxCount, 'channel'> }> {
    const pending = await this.#outbox.pendingDeliveries(this.#channel, lookLimit);
    const state = await this.#outbox.outboxState(undeliveredSince(this.#clock.now()));
    const counts = state.find(({ channel }) => channel === this.#channel) ?? noneWaiting;
    return { pending: this.#afterOutcomes(pending), counts };
  }

  #afterOutcomes(stored: readonly Delivery[]): readonly Delivery[] {
    if (!this.isBehind) return stored;
    // A delivery that is gone from the store needs no record.
    const waiting = new Set(stored.map(({ id }) => id));
    for (const id of this.#unrecorded.keys()) if (!waiting.has(id)) this.#unrecorded.delete(id);
    return stored
      .map((delivery) => (this.#unrecorded.get(delivery.id) ?? []).reduce<Delivery>(deliveryAfter, delivery))
      .filter(({ settledAt }) => settledAt === null);
  }
}

// Choice of a channel's next delivery. Messages about the same alert keep their order; a message that its receiver
// can't process does not block the others. Pure.

/** Number of tries before later messages get their turn. Until then all messages keep their order. */
const triesInOrder = 3;

interface Turn {
  readonly delivery: Delivery | null;
  /** Milliseconds until the next delivery is due; 0 with a delivery, Infinity without any. */
  readonly waitMs: number;
}

interface TurnContext {
  readonly now: EpochMs;
  /** Rest of the channel after a failure. A message that was never tried does not wait for this. */
  readonly restMs: number;
}

export function nextDelivery(pending: readonly Delivery[], patience: TurnContext): Turn {
  const free = firstOfEachAlert(pending).map((delivery) => ({ delivery, wait: waitOf(delivery, patience) }));
  const due = free.filter(({ wait }) => wait <= 0).map(({ delivery }) => delivery);
  const [delivery] = due.sort((one, other) => triesOf(one) - triesOf(other) || one.sequence - other.sequence);
  if (delivery) return { delivery, waitMs: 0 };
  return { delivery: null, waitMs: Math.min(Number.POSITIVE_INFINITY, ...free.map(({ wait }) => wait)) };
}

function firstOfEachAlert(pending: readonly Delivery[]): readonly Delivery[] {
  const covered = new Set<string>();
  return pending.filter(({ alerts }) => {
    const isBehind = alerts.some((name) => covered.has(name));
    for (const name of alerts) covered.add(name);
    return !isBehind;
  });
}

function waitOf({ attempts, nextAttemptAt }: Delivery, { now, restMs }: TurnContext): number {
  const wait = nextAttemptAt - now;
  // A wait beyond the longest that a receiver may ask for means that the clock was set back.
  const own = wait > maxRetryAfterMs ? 0 : Math.max(0, wait);
  return attempts === 0 ? own : Math.max(own, restMs);
}

function triesOf({ attempts }: Delivery): number {
  return attempts < triesInOrder ? 0 : attempts;
}

// Settlement of an attempt: sent, retried at a later moment, or given up. Pure.

const firstRetryMs = secondMs;
const longestRetryMs = 15 * minuteMs;
/** A message waits for less than the channel rests: after an outage, all are soon tried again. */
const longestMessageRetryMs = 4 * minuteMs;
/** Waits between attempts whose refusal blamed the request: a proxy may refuse everything for a quarter of an hour. */
const refusedWaitsMs = [15 * secondMs, minuteMs, 4 * minuteMs, longestRetryMs];
export const giveUpAfterMs = dayMs;
/** Attempts before a delivery is given up for its age: after two days without power a message deserves them. */
const minAttempts = 5;

export interface SettledAttempt {
  readonly delivery: Delivery;
  readonly outcome: SendOutcome;
  readonly refusals: number;
  readonly random: number;
  readonly now: EpochMs;
}

/** Undelivered after a day, after five consecutive refusals, or if the outcome is final. */
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
  const isOld = now - delivery.createdAt >= giveUpAfterMs && attempts >= minAttempts;
  if (isOld || isFinal(outcome, refusals)) return { kind: 'undelivered', detail, at: now };
  const wait = Math.max(leastWaitMs(outcome, refusals), backOffMs(attempts, random, longestMessageRetryMs));
  return { kind: 'failed', nextAttemptAt: now + wait, detail, at: now };
}

function leastWaitMs(outcome: Extract<SendOutcome, { readonly kind: 'failed' | 'refused' }>, refusals: number): number {
  const least = outcome.kind === 'refused' ? (refusedWaitsMs[refusals - 1] ?? longestRetryMs) : 0;
  return Math.max(least, outcome.retryAfterMs ?? 0);
}

function isFinal(outcome: SendOutcome, refusals: number): boolean {
  if (outcome.kind === 'refused') return refusals > refusedWaitsMs.length;
  return outcome.kind === 'failed' && outcome.final;
}

/** Wait after a number of consecutive failures: exponential with full jitter, from 1 s on. */
export function backOffMs(failures: number, random: number, longestMs = longestRetryMs): number {
  const ceiling = Math.min(longestMs, firstRetryMs * 2 ** Math.min(failures - 1, 20));
  return Math.max(firstRetryMs, Math.ceil(random * ceiling));
}

// State of a receiver after the attempts to reach it: of a channel, or of the switch that gets the heartbeat. Pure.

export type ReceiverState = Pick<ChannelState, 'lastSuccessAt' | 'failingSince' | 'lastFailure' | 'refusesSetup'>;

export const untried: ReceiverState = {
  lastSuccessAt: null,
  failingSince: null,
  lastFailure: null,
  refusesSetup: false,
};

export function answered(now: EpochMs): ReceiverState {
  return { ...untried, lastSuccessAt: now };
}

export function failedAgain(
  { lastSuccessAt, failingSince }: ReceiverState,
  failure: Pick<ReceiverState, 'lastFailure' | 'refusesSetup'>,
  now: EpochMs,
): ReceiverState {
  return { lastSuccessAt, failingSince: failingSince ?? now, ...failure };
}
