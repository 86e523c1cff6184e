// What becomes of a delivery after an attempt: sent, tried again at a time, or given up. Pure.
import type { Delivery } from '../model/delivery.ts';
import { dayMs, type EpochMs, hourMs, minuteMs, secondMs } from '../model/time.ts';
import type { SendResult } from './channel.ts';
import type { Settlement } from './outbox-store.ts';

const firstRetryMs = secondMs;
const longestRetryMs = 15 * minuteMs;
/** Between two attempts that the receiver blamed on the request: time for a deployment or a proxy to come back. */
const refusedRetryMs = 15 * secondMs;
/** Refusals in a row that end a delivery. */
const maxRefusals = 5;
/** Longer wishes are cut: an alert that waits for a day helps nobody. */
export const maxRetryAfterMs = hourMs;
const giveUpAfterMs = dayMs;
/** Age alone ends nothing: after two days without power a message deserves its attempts. */
const minAttempts = 20;

export interface Attempt {
  readonly delivery: Delivery;
  readonly result: SendResult;
  /** Refusals in a row of this delivery, this attempt included. */
  readonly refusals: number;
  /** In [0, 1): full jitter. */
  readonly random: number;
  readonly now: EpochMs;
}

/** The settlement of an attempt. Waits are exponential with full jitter, 1 s to 15 min, and never shorter than asked for. */
export function settlementOf({ delivery, result, refusals, random, now }: Attempt): Settlement {
  if (result.kind === 'sent') return { id: delivery.id, state: 'sent', now, detail: null };
  const attempts = delivery.attempts + 1;
  const tooOld = now - delivery.createdAt >= giveUpAfterMs && attempts >= minAttempts;
  const final = result.kind === 'failed' ? result.final : refusals >= maxRefusals;
  if (final || tooOld) return { id: delivery.id, state: 'dead', now, detail: result.detail };
  const ceiling = Math.min(longestRetryMs, firstRetryMs * 2 ** Math.min(attempts - 1, 20));
  const least = Math.max(result.retryAfterMs ?? 0, result.kind === 'refused' ? refusedRetryMs : firstRetryMs);
  const wait = Math.max(least, Math.ceil(random * ceiling));
  return { id: delivery.id, state: 'pending', now, nextAttemptAt: now + wait, detail: result.detail };
}
