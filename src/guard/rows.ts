// The days of a stats answer, put in order: keyed by date, doubles settled, the future left out.
import type { StatsRow } from '../model/answers.ts';
import { addDays, type EpochMs, type IsoDate, isIsoDate, utcDate } from '../model/time.ts';
import type { EvidenceStart } from '../model/verdict.ts';

export interface Counts {
  readonly sent: number;
  readonly bounced: number;
}

/** A day that the API reported. counts is null when one of them is missing, negative or no integer. */
interface Day {
  readonly date: IsoDate;
  readonly counts: Counts | null;
}

export interface Days {
  readonly byDate: ReadonlyMap<IsoDate, Day>;
  /** The newest date that is not in the future: the end of every window. null without rows. */
  readonly anchor: IsoDate | null;
  readonly oldest: IsoDate | null;
  /** A row had no readable date, so nobody knows where its counts belong. */
  readonly undated: boolean;
  readonly warnings: readonly string[];
}

const noMail: Counts = { sent: 0, bounced: 0 };

function isCount(value: number | null): value is number {
  return value !== null && Number.isSafeInteger(value) && value >= 0;
}

/** Whether the counts of a row can be read. */
export function isCounted(row: StatsRow): row is StatsRow & Counts {
  return isCount(row.sent) && isCount(row.bounced);
}

function countsOf(row: StatsRow): Counts | null {
  return isCounted(row) ? { sent: row.sent, bounced: row.bounced } : null;
}

/** The last date that is no mistake of the API's: mail time zones run at most a day ahead of UTC. */
export function latestDay(now: EpochMs): IsoDate {
  return addDays(utcDate(now), 1);
}

/** Of two rows of one date: more sent, then more bounced. An unreadable one makes the day unreadable. */
function settleDouble(a: Counts | null, b: Counts | null): Counts | null {
  if (!a || !b) return null;
  if (a.sent !== b.sent) return a.sent > b.sent ? a : b;
  return a.bounced >= b.bounced ? a : b;
}

function rateWarning(row: StatsRow, counts: Counts | null): string | null {
  if (!counts || counts.sent === 0 || row.bounceRatePercent === null) return null;
  const ours = (counts.bounced * 100) / counts.sent;
  if (Math.abs(ours - row.bounceRatePercent) <= 0.01) return null;
  return `${row.date}: bounce_rate says ${row.bounceRatePercent} %, the counts say ${ours.toFixed(2)} %; Warmwarden uses the counts`;
}

/** What was read last: the verdict, the memory and the pooled counts all ask for the rows of one answer. */
let newest: { readonly rows: readonly StatsRow[]; readonly latest: IsoDate; readonly days: Days } | null = null;

/** Reads the rows of a stats answer. Rows dated more than one day after today in UTC are left out, with a warning. */
export function readDays(rows: readonly StatsRow[], now: EpochMs): Days {
  const latest = latestDay(now);
  if (newest?.rows !== rows || newest.latest !== latest) newest = { rows, latest, days: daysUntil(latest, rows) };
  return newest.days;
}

function daysUntil(latest: IsoDate, rows: readonly StatsRow[]): Days {
  const byDate = new Map<IsoDate, Day>();
  const warnings = new Set<string>();
  let undated = false;
  for (const row of rows) {
    if (row.date === null || !isIsoDate(row.date)) {
      undated = true;
      continue;
    }
    if (row.date > latest) {
      warnings.add(`${row.date}: Warmwarden ignores a day in the future`);
      continue;
    }
    const counts = countsOf(row);
    const warning = rateWarning(row, counts);
    if (warning) warnings.add(warning);
    const earlier = byDate.get(row.date);
    if (earlier && (earlier.counts?.sent !== counts?.sent || earlier.counts?.bounced !== counts?.bounced)) {
      warnings.add(`${row.date}: two rows differ; Warmwarden uses the one with more emails`);
    }
    byDate.set(row.date, { date: row.date, counts: earlier ? settleDouble(earlier.counts, counts) : counts });
  }
  let anchor: IsoDate | null = null;
  let oldest: IsoDate | null = null;
  for (const date of byDate.keys()) {
    if (anchor === null || date > anchor) anchor = date;
    if (oldest === null || date < oldest) oldest = date;
  }
  return { byDate, anchor, oldest, undated, warnings: [...warnings].sort() };
}

/** Whether the counts of a date could not be read. A date without a row is a day without mail. */
export function isInvalid(days: Days, date: IsoDate): boolean {
  const day = days.byDate.get(date);
  return day !== undefined && day.counts === null;
}

/** The counts of a date that are evidence: none before its start, and on its first day only what came after it. */
export function countsOn(days: Days, date: IsoDate, evidence: EvidenceStart | null): Counts {
  const counts = days.byDate.get(date)?.counts ?? noMail;
  if (!evidence || date > evidence.from) return counts;
  if (date < evidence.from) return noMail;
  const before = evidence.before ?? noMail;
  return { sent: Math.max(0, counts.sent - before.sent), bounced: Math.max(0, counts.bounced - before.bounced) };
}

/** Pools the counts from one date to another, both included. */
export function pool(days: Days, range: { from: IsoDate; to: IsoDate }, evidence: EvidenceStart | null): Counts {
  let sent = 0;
  let bounced = 0;
  for (const date of days.byDate.keys()) {
    if (date < range.from || date > range.to) continue;
    const counts = countsOn(days, date, evidence);
    sent += counts.sent;
    bounced += counts.bounced;
  }
  return { sent, bounced };
}
