// Retry-After in every form that receivers send it. FAULTS.md H11.
import { type EpochMs, hourMs, secondMs } from '../model/time.ts';

const minRetryAfterMs = secondMs;
/** Longer wishes are cut: an alert that waits for a day helps nobody. */
export const maxRetryAfterMs = hourMs;

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/**
 * How long the receiver asks us to wait, 1 s to 1 h, rounded up to whole milliseconds; of several the longest.
 * null without the header or when it can't be read. A date counts from the answer's own Date, so that a wrong clock
 * on either side does no harm.
 */
export function retryAfterMs(headers: Headers, now: EpochMs): number | null {
  const wishes = listOf(headers['retry-after']).map((text) => wishMs(text.trim(), headers, now));
  const readable = wishes.filter((wish) => wish !== null);
  if (readable.length === 0) return null;
  return Math.min(maxRetryAfterMs, Math.max(minRetryAfterMs, ...readable));
}

function wishMs(text: string, headers: Headers, now: EpochMs): number | null {
  if (/^[+-]?\d+(\.\d+)?$/.test(text)) return Math.ceil(Number(text) * secondMs);
  // A date has letters in it; Date.parse takes too much else for one.
  const until = /[a-z]/i.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(until)) return null;
  const answered = Date.parse(listOf(headers['date'])[0] ?? '');
  return until - (Number.isNaN(answered) ? now : answered);
}

function listOf(value: string | string[] | undefined): readonly string[] {
  if (value === undefined) return [];
  return typeof value === 'string' ? [value] : value;
}
