// The evidence window: the days over which the bounce rate is measured. docs/guard.md, "The rule".
import type { StatsAnswer, StatsRow } from '../answers.ts';
import { isWarmupMode, type Policy, type Ppm, type WarmupMode } from '../policy.ts';
import { addDays, dayMs, type EpochMs, type IsoDate } from '../time.ts';
import type { EarlierMode, EvidenceStart } from '../verdict.ts';
import { type Counts, countsOn, type Days, isCounted, isInvalid, pool, readDays } from './rows.ts';

// The days of one mailbox, each under the limit of the mode that it had on that day: what is pooled beyond one mailbox.

export interface CountedDay extends Counts {
  readonly date: IsoDate;
}

/** The days of a mailbox, each date once, the oldest first, and the limit that each of them is under. */
export interface LimitedDays {
  readonly days: readonly CountedDay[];
  readonly limitOn: (date: IsoDate) => Ppm;
}

export interface DaysSource {
  readonly stats: StatsAnswer | null;
  /** Moment at which the rows were read: days in the future of it do not count. */
  readonly now: EpochMs;
  readonly mode: string | null;
  readonly earlierModes: readonly EarlierMode[];
  readonly limitsPpm: Readonly<Record<WarmupMode, Ppm>>;
}

/** Number of newest days that must be readable and plausible (no more bounces than emails) for a mailbox to count. */
const soundDays = 7;

/**
 * The days of a mailbox; null when they must not be pooled: nothing could be read, the mode is unknown, or the counts of its
 * newest days make no sense. An unreadable day before them is left out.
 */
export function limitedDays({ stats, now, mode, earlierModes, limitsPpm }: DaysSource): LimitedDays | null {
  if (!stats?.rows || !isWarmupMode(mode)) return null;
  const days = countedDays(stats.rows, now);
  if (!days || !isPlausible(days)) return null;
  return { days, limitOn: (date) => limitsPpm[modeOn(date, mode, earlierModes)] };
}

/** The readable days; null without any, or when one of the newest is not readable, or nobody knows where a row belongs. */
function countedDays(rows: readonly StatsRow[], now: EpochMs): readonly CountedDay[] | null {
  const days = readDays(rows, now);
  const { anchor, undated } = days;
  if (anchor === null || undated) return null;
  for (let back = 0; back < soundDays; back += 1) if (isInvalid(days, addDays(anchor, -back))) return null;
  return days.days.filter(isCounted);
}

/** No more bounces than emails in the newest days. */
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

/** A day on which the mode changed belongs to the mode with which it began, as the evidence has it. */
function modeOn(date: IsoDate, mode: WarmupMode, earlierModes: readonly EarlierMode[]): WarmupMode {
  if (earlierModes.length === 0) return mode;
  return earlierModes.findLast(({ until }) => date <= until)?.mode ?? mode;
}

export interface EvidenceWindow extends Counts {
  readonly from: IsoDate;
  readonly to: IsoDate;
  /** Calendar days, both ends included; 0 when the evidence begins after the newest row. */
  readonly days: number;
  readonly base: Counts;
}

/** Emails on which a rate of `limitPpm` can be measured at all: 1/limit, rounded up (slow 200, recovery 334). */
export function representativeVolume(limitPpm: Ppm): number {
  return Math.ceil(1e6 / limitPpm);
}

/** True if the rate is over the limit with enough bounces, and no more of them than emails. */
export function isBreach({ sent, bounced }: Counts, limitPpm: Ppm, minBounces: number): boolean {
  return bounced >= minBounces && bounced <= sent && bounced * 1e6 > limitPpm * sent;
}

export function daysInclusive(from: IsoDate, to: IsoDate): number {
  return Math.round((Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / dayMs) + 1;
}

/**
 * The last `windowDays` days up to the anchor, extended backwards until they hold 1/limit emails, at most `windowMaxDays`;
 * never before the evidence began, never across an unreadable day. Without a limit (unknown mode) it is not extended.
 * When the extension would hide a breach of the last `windowDays` days behind one busy day, those days count alone
 * (docs/decisions/0004).
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
