// The days of a stats answer: the oldest first, without duplicates and future dates.
import type { StatsRow } from '../answers.ts';
import type { Counts } from '../policy.ts';
import { addDays, type EpochMs, type IsoDate, isIsoDate, utcDate } from '../time.ts';
import type { Doubt, EvidenceStart } from '../verdict.ts';

/** An unreadable day has a count that is missing, negative or no integer. */
export interface DailyRow extends StatsRow {
  readonly date: IsoDate;
}

export interface Days {
  readonly days: readonly DailyRow[];
  /** Second row of a duplicate date: of the rows that do not count, the one with the most bounces. */
  readonly others: ReadonlyMap<IsoDate, DailyRow>;
  /** The newest date that is not in the future: the end of every window. */
  readonly anchor: IsoDate | null;
  readonly oldest: IsoDate | null;
  /** True if a row had no readable date. */
  readonly undated: boolean;
  readonly warnings: readonly string[];
}

const noMail: Counts = { sent: 0, bounced: 0 };

function isCount(value: number | null): value is number {
  return value !== null && Number.isSafeInteger(value) && value >= 0;
}

export function isCounted<Of extends Pick<StatsRow, keyof Counts>>(day: Of): day is Of & Counts {
  return isCount(day.sent) && isCount(day.bounced);
}

/** The newest day that the API's rows or UTC call today. One day ahead is normal: a date is an opaque label. */
export function newestToday(rows: readonly StatsRow[] | null, now: EpochMs, apiAheadMs = 0): IsoDate {
  const { anchor } = readDays(rows ?? [], now + apiAheadMs);
  const utc = utcDate(now);
  return anchor !== null && anchor > utc ? anchor : utc;
}

export function sendingDaysAfter({ days }: Days, date: IsoDate): readonly IsoDate[] {
  return days.filter((day) => day.date > date && isCounted(day) && day.sent > 0).map((day) => day.date);
}

/** Picks one of two rows of a date: more sent, then more bounced, then fewer delivered, then the higher rate. */
function settleDouble(a: DailyRow, b: DailyRow): DailyRow {
  if (!isCounted(a)) return a;
  if (!isCounted(b)) return b;
  if (a.sent !== b.sent) return a.sent > b.sent ? a : b;
  if (a.bounced !== b.bounced) return a.bounced > b.bounced ? a : b;
  const [delivered, deliveredToo] = [a, b].map((day) => day.delivered ?? Number.POSITIVE_INFINITY) as [number, number];
  if (delivered !== deliveredToo) return delivered < deliveredToo ? a : b;
  return (a.bounceRatePercent ?? -1) >= (b.bounceRatePercent ?? -1) ? a : b;
}

function rateWarning(row: StatsRow): string | null {
  if (!isCounted(row) || row.sent === 0 || row.bounceRatePercent === null) return null;
  const ours = (row.bounced * 100) / row.sent;
  if (Math.abs(ours - row.bounceRatePercent) <= 0.01) return null;
  return `${row.date}: bounce_rate says ${row.bounceRatePercent}%, the counts say ${ours.toFixed(2)}%; Warmwarden uses the counts`;
}

/** Days of rows that were read, until the next day. */
const known = new WeakMap<readonly StatsRow[], { readonly latest: IsoDate; readonly days: Days }>();

/**
 * Leaves out later rows than of one day after today in UTC, with a warning: mail time zones run no further ahead. The
 * rows must not change afterwards, because the result is kept with them.
 */
export function readDays(rows: readonly StatsRow[], now: EpochMs): Days {
  const latest = addDays(utcDate(now), 1);
  const before = known.get(rows);
  if (before?.latest === latest) return before.days;
  const days = daysUntil(latest, rows);
  known.set(rows, { latest, days });
  return days;
}

const isDated = (row: StatsRow): row is DailyRow => row.date !== null && isIsoDate(row.date);

function daysUntil(latest: IsoDate, rows: readonly StatsRow[]): Days {
  const byDate = new Map<IsoDate, DailyRow>();
  const others = new Map<IsoDate, DailyRow & Counts>();
  const warnings = new Set<string>();
  let undated = false;
  for (const row of rows) {
    if (!isDated(row)) {
      undated = true;
      continue;
    }
    const { date } = row;
    if (date > latest) {
      warnings.add(`${date}: Warmwarden ignores a day in the future`);
      continue;
    }
    const warning = rateWarning(row);
    if (warning) warnings.add(warning);
    const earlier = byDate.get(date);
    if (earlier && !hasSameCounts(earlier, row)) {
      warnings.add(`${date}: two rows differ; Warmwarden uses the one with more emails`);
    }
    const settled = earlier ? settleDouble(earlier, row) : row;
    if (earlier && isCounted(settled)) keepOther(others, settled === row ? earlier : row);
    byDate.set(date, settled);
  }
  const days = [...byDate.values()].sort((a, b) => (a.date < b.date ? -1 : 1));
  return { ...withEnds(days, latest), others, undated, warnings: [...warnings].sort() };
}

function keepOther(others: Map<IsoDate, DailyRow & Counts>, day: DailyRow): void {
  if (!isCounted(day)) return;
  const known = others.get(day.date);
  const isWorse = !known || day.bounced > known.bounced || (day.bounced === known.bounced && day.sent < known.sent);
  if (isWorse) others.set(day.date, day);
}

/** Two rows that cannot be read do not differ. */
function hasSameCounts(one: DailyRow, other: DailyRow): boolean {
  const [are, areToo] = [isCounted(one), isCounted(other)];
  return are === areToo && (!are || (one.sent === other.sent && one.bounced === other.bounced));
}

/** Some APIs always have a row for tomorrow without counts: it is no newest day. */
function withEnds(days: readonly DailyRow[], latest: IsoDate): Pick<Days, 'days' | 'anchor' | 'oldest'> {
  const last = days.at(-1);
  const isBlank = last?.date === latest && last.sent === 0 && last.bounced === 0;
  return { days, anchor: days.at(isBlank ? -2 : -1)?.date ?? null, oldest: days[0]?.date ?? null };
}

export function dayOn({ days }: Days, date: IsoDate): DailyRow | null {
  return days.find((day) => day.date === date) ?? null;
}

/** True if a row of these days, both ends included, is unreadable. A date without a row is a day without emails. */
export function hasInvalid({ days }: Days, from: IsoDate, to: IsoDate): boolean {
  return days.some((day) => day.date >= from && day.date <= to && !isCounted(day));
}

export function countsOf(days: Days, date: IsoDate): Counts | null {
  const day = dayOn(days, date);
  return day && isCounted(day) ? { sent: day.sent, bounced: day.bounced } : null;
}

/** Pools the counts of the dates, both ends included. Of the evidence's first day only those after its start count. */
export function pool({ days }: Days, range: { from: IsoDate; to: IsoDate }, evidence: EvidenceStart | null): Counts {
  let [sent, bounced] = [0, 0];
  for (const day of days) {
    if (day.date < range.from || day.date > range.to) continue;
    const counts = evidenceOf(day, evidence);
    sent += counts.sent;
    bounced += counts.bounced;
  }
  return { sent, bounced };
}

function evidenceOf(day: DailyRow, evidence: EvidenceStart | null): Counts {
  const counts = isCounted(day) ? day : noMail;
  if (!evidence || day.date > evidence.from) return counts;
  if (day.date < evidence.from) return noMail;
  const before = evidence.before ?? noMail;
  return { sent: Math.max(0, counts.sent - before.sent), bounced: Math.max(0, counts.bounced - before.bounced) };
}

// Counts against the same rows' second row, rate and delivered emails.

/** Grade 0 is nothing, 1 a breach, 2 an emergency. */
export interface CountsFinding extends Counts {
  readonly grade: 0 | 1 | 2;
  readonly from: IsoDate;
  readonly to: IsoDate;
}

interface OtherReading {
  readonly by: Exclude<Doubt['by'], 'earlier_answer'>;
  readonly days: readonly DailyRow[];
  /** Set if the reading reduces bounces, on days with more bounces than emails alone. */
  readonly denies?: true;
}

/** A rate has two fraction digits. */
const rateTolerancePercent = 0.01;

/** Bounces of a day's rate, or null if it agrees or says nothing. A rate ends at 100%, bounces do not. */
function bouncesByRate({ sent, bounced, bounceRatePercent: percent }: DailyRow): number | null {
  if (!sent || bounced === null || percent === null || percent < 0) return null;
  if (bounced >= sent && percent >= 100) return null;
  if (Math.abs((bounced * 100) / sent - percent) <= rateTolerancePercent) return null;
  const bounces = Math.round((percent * sent) / 100);
  return bounces === bounced ? null : bounces;
}

/** The reading that leads further than the counts, or not as far. `find` evaluates some days. */
export function contradictionIn(days: Days, today: IsoDate, find: (days: Days) => CountsFinding | null): Doubt | null {
  let counted: CountsFinding | null | undefined;
  for (const { by, days: others, denies } of readingsOf(days, today)) {
    counted ??= find(days);
    const read = find({ ...days, days: others });
    if (!counted || !read) return null;
    const { grade, ...counts } = read;
    if (denies ? grade < counted.grade : counted.grade === 0 && grade > 0) return { by, ...counts };
  }
  return null;
}

function readingsOf({ days, others, anchor }: Days, today: IsoDate): readonly OtherReading[] {
  const readings: OtherReading[] = [];
  const add = (by: OtherReading['by'], bouncesOf: (day: DailyRow & Counts) => number | null, denies?: true) => {
    let differs = false;
    const read = days.map((day) => {
      const bounced = isCounted(day) ? bouncesOf(day) : null;
      if (bounced === null || bounced === day.bounced) return day;
      differs = true;
      return { ...day, bounced };
    });
    if (differs) readings.push({ by, days: read, ...(denies && { denies }) });
  };
  if (others.size > 0) {
    readings.push({
      by: 'second_row',
      days: days.map((day) => (isCounted(day) ? (others.get(day.date) ?? day) : day)),
    });
  }
  if (days.some((day) => bouncesByRate(day) !== null)) {
    add('bounce_rate', bouncesByRate);
    add('bounce_rate', (day) => (day.bounced > day.sent ? bouncesByRate(day) : null), true);
  }
  // An API that never counts delivered emails reports 0.
  const isDelivered = ({ date, delivered }: DailyRow) => anchor !== null && date <= anchor && (delivered ?? 0) > 0;
  if (days.some(differsFromDelivered) && days.some(isDelivered)) {
    add('delivered', (day) => undelivered(day, today));
  }
  return readings;
}

function differsFromDelivered({ sent, bounced, delivered }: DailyRow): boolean {
  return sent !== null && bounced !== null && delivered !== null && delivered !== sent - bounced;
}

/** Emails that did not arrive. Those of today and yesterday may still be under way. */
function undelivered({ date, sent, bounced, delivered }: DailyRow & Counts, today: IsoDate): number | null {
  if (delivered === null || !(delivered >= 0 && delivered <= sent)) return null;
  return date < addDays(today, -1) ? sent - delivered : Math.min(bounced, sent - delivered);
}
