// Values that several answers of the API report: the newest answer that reports one counts.
import type { MailboxState } from '../model/mailbox.ts';
import type { EpochMs } from '../model/time.ts';

interface Dated<Value> {
  readonly at: EpochMs;
  readonly value: Value | null;
}

/** The newest value that is known; null when none is. */
function newest<Value>(...values: readonly (Dated<Value> | null)[]): Value | null {
  let best: Dated<Value> | null = null;
  for (const one of values) if (one && one.value !== null && (best === null || one.at > best.at)) best = one;
  return best?.value ?? null;
}

/** 0 to 100. */
export function healthScoreOf({ entry, warmup, detail }: MailboxState): number | null {
  return newest(
    { at: entry.at, value: entry.answer.healthScore },
    warmup && { at: warmup.at, value: warmup.answer.healthScore },
    detail && { at: detail.at, value: detail.answer.healthScore },
  );
}

/** Emails a day. */
export function dailyLimitOf({ entry, warmup, detail }: MailboxState): number | null {
  return newest(
    { at: entry.at, value: entry.answer.dailyLimit },
    warmup && { at: warmup.at, value: warmup.answer.dailyLimit },
    detail && { at: detail.at, value: detail.answer.dailyLimit },
  );
}

/** The day of the warm-up, from 1. */
export function warmupDayOf({ entry, warmup }: MailboxState): number | null {
  return newest(
    { at: entry.at, value: entry.answer.warmupDay },
    warmup && { at: warmup.at, value: warmup.answer.warmupDay },
  );
}

/** The mailbox's status word, as the API wrote it. */
export function mailboxStatusOf({ entry, detail }: MailboxState): string | null {
  return newest({ at: entry.at, value: entry.answer.status }, detail && { at: detail.at, value: detail.answer.status });
}
