// A stats answer as one row a calendar day, sums that are null as soon as one part is unknown, and expected days.
import type { StatsAnswer } from './answers.ts';
import { type DailyRow, readDays } from './guard/rows.ts';
import { addDays, dayOf, type EpochMs, type IsoDate, isWeekend } from './time.ts';

/** The rows by date, the oldest first, without duplicates and future dates. */
export function dailyRows(stats: StatsAnswer | undefined, now: EpochMs): readonly DailyRow[] {
  return readDays(stats?.rows ?? [], now).days;
}

export function rowsBetween(rows: readonly DailyRow[], from: IsoDate, to: IsoDate): readonly DailyRow[] {
  return rows.filter((row) => row.date >= from && row.date <= to);
}

/** Days over which rates are pooled. */
export const weekDays = 7;

/** Rows of the last seven days, up to the day on which the guard's window ends. */
export function lastWeek(stats: StatsAnswer | undefined, now: EpochMs): readonly DailyRow[] {
  const { days: rows, anchor } = readDays(stats?.rows ?? [], now);
  return anchor === null ? [] : rowsBetween(rows, addDays(anchor, 1 - weekDays), anchor);
}

/** Sum of a count, or null without rows or if a count is invalid. */
export function sumOf(
  rows: readonly DailyRow[],
  field: 'sent' | 'bounced' | 'delivered' | 'replied' | 'spamLanded',
): number | null {
  if (rows.length === 0) return null;
  let sum = 0;
  for (const row of rows) {
    const count = row[field];
    if (count === null || !Number.isInteger(count) || count < 0) return null;
    sum += count;
  }
  return sum;
}

/** Emails that landed in the inbox, not rounded, or null if a day's part is unknown. */
export function inboxCount(rows: readonly DailyRow[]): number | null {
  if (sumOf(rows, 'delivered') === null) return null;
  let inbox = 0;
  for (const { delivered, inboxRatePercent: percent } of rows) {
    if (!delivered) continue;
    if (percent === null || !(percent >= 0 && percent <= 100)) return null;
    inbox += (delivered * percent) / 100;
  }
  return inbox;
}

/** Inbox rate weighted by each day's delivered emails, or null if a day's part is unknown. */
export function inboxRatio(rows: readonly DailyRow[]): number | null {
  const delivered = sumOf(rows, 'delivered');
  const inbox = inboxCount(rows);
  return delivered === null || delivered === 0 || inbox === null ? null : inbox / delivered;
}

/** Counts the days on which emails are expected, both ends included and up to `most`. */
export function countExpectedDays(
  [from, to]: readonly [IsoDate, IsoDate],
  most: number,
  { weekdaysOnly, known }: { readonly weekdaysOnly: boolean; readonly known: KnownDays },
): number {
  let count = 0;
  for (let date = from; date <= to && count < most; date = addDays(date, 1)) {
    if (!(weekdaysOnly && isWeekend(date)) && !isUsuallyQuiet(date, known)) count += 1;
  }
  return count;
}

type KnownDays = readonly { readonly date: IsoDate | null; readonly sent: number | null }[];

const patternWeeks = 4;

/** True if earlier days explain a date without email: its weekday, or each weekend day, had none in four weeks. */
function isUsuallyQuiet(date: IsoDate, known: KnownDays): boolean {
  const day = dayOf(date);
  let [oldest, newest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  let [sends, weekendsAreQuiet] = [false, true];
  for (const row of known) {
    if (row.date === null || row.date >= date) continue;
    const before = dayOf(row.date);
    [oldest, newest] = [Math.min(oldest, before), Math.max(newest, before)];
    // An unknown count may hide emails.
    if (row.sent === 0) continue;
    sends = true;
    if (isWeekend(row.date)) weekendsAreQuiet = false;
    if ((day - before) % 7 === 0 && day - before <= patternWeeks * 7) return false;
  }
  const weeks = Math.ceil((day - newest) / 7);
  const isKnown = weeks <= patternWeeks && day - weeks * 7 >= oldest;
  return sends && (isKnown || (isWeekend(date) && weekendsAreQuiet));
}
