// The evidence window for the bounce rate. docs/guard.md, "The rule".
import type { StatsAnswer, StatsRow } from '../answers.ts';
import { isWarmupMode, type Policy, type Ppm, type WarmupMode } from '../policy.ts';
import { addDays, dayMs, type EpochMs, type IsoDate } from '../time.ts';
import type { EarlierMode, EvidenceStart } from '../verdict.ts';
import { type Counts, countsOn, type Days, isCounted, isInvalid, pool, readDays } from './rows.ts';

// Days of one mailbox with the limit of each day's mode, for pools of several mailboxes.

export interface CountedDay extends Counts {
  readonly date: IsoDate;
}

/** Dates are unique, the oldest first. */
export interface LimitedDays {
  readonly days: readonly CountedDay[];
  readonly limitOn: (date: IsoDate) => Ppm;
}

export interface DaysSource {
  readonly stats: StatsAnswer | null;
  /** Time of the reading: later days do not count. */
  readonly now: EpochMs;
  readonly mode: string | null;
  readonly earlierModes: readonly EarlierMode[];
  readonly limitsPpm: Readonly<Record<WarmupMode, Ppm>>;
}

/** Number of newest days that must be readable and plausible. */
const soundDays = 7;

/** Returns null if the mode is unknown or the newest counts make no sense. Older unreadable days are left out. */
export function limitedDays({ stats, now, mode, earlierModes, limitsPpm }: DaysSource): LimitedDays | null {
  if (!stats?.rows || !isWarmupMode(mode)) return null;
  const days = countedDays(stats.rows, now);
  if (!days || !isPlausible(days)) return null;
  return { days, limitOn: (date) => limitsPpm[modeOn(date, mode, earlierModes)] };
}

/** Readable days, or null without any, or if a newest day is unreadable or a row has no date. */
function countedDays(rows: readonly StatsRow[], now: EpochMs): readonly CountedDay[] | null {
  const days = readDays(rows, now);
  const { anchor, undated } = days;
  if (anchor === null || undated) return null;
  for (let back = 0; back < soundDays; back += 1) if (isInvalid(days, addDays(anchor, -back))) return null;
  return days.days.filter(isCounted);
}

function isPlausible(days: readonly CountedDay[]): boolean {
  const from = addDays(days.at(-1)?.date ?? '', 1 - soundDays);
  let [sent, bounced] = [0, 0];
  for (let index = days.length - 1; index >= 0; index -= 1) {
    const day = days[index];
    if (!day || day.date < from) break;
    sent += day.sent;
    bounced += day.bounced;
  }
  return bounced <= sent;
}

/** A day of a change belongs to the mode with which it began. */
function modeOn(date: IsoDate, mode: WarmupMode, earlierModes: readonly EarlierMode[]): WarmupMode {
  if (earlierModes.length === 0) return mode;
  return earlierModes.findLast(({ until }) => date <= until)?.mode ?? mode;
}

export interface EvidenceWindow extends Counts {
  readonly from: IsoDate;
  readonly to: IsoDate;
  /** Calendar days, both ends included; 0 if the evidence begins after the newest row. */
  readonly days: number;
  readonly base: Counts;
}

/** Emails that a rate of `limitPpm` can be measured on: 1/limit, rounded up (slow 200, recovery 334). */
export function representativeVolume(limitPpm: Ppm): number {
  return Math.ceil(1e6 / limitPpm);
}

/** More bounces than emails are implausible, and no breach. */
export function isBreach({ sent, bounced }: Counts, limitPpm: Ppm, minBounces: number): boolean {
  return bounced >= minBounces && bounced <= sent && bounced * 1e6 > limitPpm * sent;
}

export function daysInclusive(from: IsoDate, to: IsoDate): number {
  return Math.round((Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / dayMs) + 1;
}

/**
 * The last `windowDays` days, extended backwards to 1/limit emails or `windowMaxDays`, within the evidence and up to an
 * unreadable day. If the extension would hide a breach behind one busy day, it is left out (docs/decisions/0004).
 */
export function evidenceWindow(
  days: Days,
  policy: Policy,
  limitPpm: Ppm | null,
  evidence: EvidenceStart | null,
): EvidenceWindow | null {
  if (days.anchor === null || days.oldest === null) return null;
  const to = days.anchor;
  const needed = limitPpm === null || limitPpm === 0 ? 0 : representativeVolume(limitPpm);
  const notBefore = evidence?.from ?? days.oldest;
  let from = addDays(to, 1 - policy.windowDays);
  if (evidence && from < evidence.from) from = evidence.from;
  const base = pool(days, { from, to }, evidence);
  const baseFrom = from;
  let { sent, bounced } = base;
  const earliest = addDays(to, 1 - policy.windowMaxDays);
  while (sent < needed) {
    const next = addDays(from, -1);
    if (next < notBefore || next < days.oldest || next < earliest || isInvalid(days, next)) break;
    const counts = countsOn(days, next, evidence);
    sent += counts.sent;
    bounced += counts.bounced;
    from = next;
  }
  const breaches = (counts: Counts) => limitPpm !== null && isBreach(counts, limitPpm, policy.minBounces);
  const hidden = breaches(base) && !breaches({ sent, bounced });
  const start = hidden ? baseFrom : from;
  const counts = hidden ? base : { sent, bounced };
  return { ...counts, from: start, to, days: Math.max(0, daysInclusive(start, to)), base };
}
