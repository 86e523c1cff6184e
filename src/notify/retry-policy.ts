// What becomes of a delivery after an attempt: sent, tried again at a time, or given up. Pure.

import type { SendOutcome } from '../channels/channel.ts';
import type { Delivery } from '../model/delivery.ts';
import type { AttemptSettlement } from '../model/delivery-transition.ts';
import { dayMs, type EpochMs, hourMs, minuteMs, secondMs } from '../model/time.ts';

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

export interface Attempt {
  readonly delivery: Delivery;
  readonly outcome: SendOutcome;
  /** Refusals in a row of this delivery, this attempt included. */
  readonly refusals: number;
  /** In [0, 1): full jitter. */
  readonly random: number;
  readonly now: EpochMs;
}

/** The settlement of an attempt: given up after a day, after five refusals in a row, or where it is final. */
export function settlementOf(attempt: Attempt): AttemptSettlement {
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
