// What a mailbox was allowed to send on each of its last days, as far as it was seen. Pure.
import type { MailboxEntry, Observed, WarmupAnswer } from './answers.ts';
import { isWarmupMode, maxPerDay } from './policy.ts';
import { addDays, type EpochMs, type IsoDate, utcDate } from './time.ts';

/** In emails; null: not known. */
export interface DayLimits {
  readonly daily: number | null;
  /** The maximum of its mode. */
  readonly mode: number | null;
}

/** The highest that were seen, by UTC day, the newest last; at most `daysKept`. A limit that fell at noon allowed more before. */
export type RecentLimits = readonly (DayLimits & { readonly day: IsoDate })[];

/** Today, and what yesterday is compared with: its own limits, and those of the day before. */
const daysKept = 3;
/** What a mode allows that nobody knows. */
const unbounded = Number.MAX_SAFE_INTEGER;

/** What was read last of a mailbox. */
interface Looks {
  readonly entry: Observed<MailboxEntry>;
  readonly warmup: Observed<WarmupAnswer> | null;
}

/** The limits with what is seen of the mailbox now. What could not be read changes nothing. */
export function limitsAfter(before: RecentLimits, { entry, warmup }: Looks, now: EpochMs): RecentLimits {
  const day = utcDate(now);
  const seen = {
    daily: higher(entry.answer.dailyLimit, warmup?.answer.dailyLimit ?? null),
    mode: maximumOf(warmup?.answer.mode ?? null),
  };
  const last = before.at(-1);
  if (last?.day !== day) return [...before, { day, ...seen }].slice(-daysKept);
  const [daily, mode] = [higher(last.daily, seen.daily), higher(last.mode, seen.mode)];
  return daily === last.daily && mode === last.mode ? before : before.with(-1, { day, daily, mode });
}

/**
 * The highest limits in force on a day of the API's, whose time zone is not known: a date begins up to half a day before
 * the UTC day of that name, or after it. null: the mailbox was not watched from the day before on.
 */
export function limitsOn(limits: RecentLimits, date: IsoDate): DayLimits | null {
  const newest = limits.at(-1)?.day;
  const [from, to] = [addDays(date, -1), addDays(date, 1)];
  if (newest === undefined || newest < from) return null;
  let [daily, mode]: [number | null, number | null] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const day of [from, date, to]) {
    if (day > newest) break;
    const on = limits.find((one) => one.day === day);
    if (!on) return null;
    daily = highest(daily, on.daily);
    mode = highest(mode, on.mode);
  }
  return { daily, mode };
}

function maximumOf(mode: string | null): number | null {
  if (mode === null) return null;
  return isWarmupMode(mode) ? maxPerDay[mode] : unbounded;
}

/** null when one of them is unknown, or the other has no bound. */
function highest(before: number | null, other: number | null): number | null {
  return before === null || other === null || other === unbounded ? null : Math.max(before, other);
}

function higher(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.max(a, b);
}
