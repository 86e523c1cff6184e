// The days of one mailbox, each under the limit of the mode that it had on that day: what is pooled beyond one mailbox.
import type { StatsAnswer, StatsRow } from '../model/answers.ts';
import { isWarmupMode, type Ppm, type WarmupMode } from '../model/policy.ts';
import { addDays, type EpochMs, type IsoDate } from '../model/time.ts';
import type { EarlierMode } from '../model/verdict.ts';
import { areCounted, type Counts, isCounted, isInvalid, latestDay, readDays } from './rows.ts';

/** A day whose counts could be read. */
export interface CountedDay extends Counts {
  readonly date: IsoDate;
}

/** The days of a mailbox, each date once, the oldest first, and the limit that each of them is under. */
export interface LimitedDays {
  readonly days: readonly CountedDay[];
  readonly limitOn: (date: IsoDate) => Ppm;
}

/** What the days of a mailbox are made of. */
export interface DaysSource {
  readonly stats: StatsAnswer | null;
  /** When the rows were taken in: what was in the future then is left out. */
  readonly now: EpochMs;
  readonly mode: string | null;
  /** The newest first. */
  readonly earlierModes: readonly EarlierMode[];
  readonly limitsPpm: Readonly<Record<WarmupMode, Ppm>>;
}

/** So many newest days must be readable, and hold no more bounces than emails, for a mailbox to be counted at all. */
const soundDays = 7;

/**
 * The days of a mailbox; null when they must not be pooled: nothing could be read, the mode is unknown, or the counts of its
 * newest days make no sense. An unreadable day before them is left out.
 */
export function limitedDays(source: DaysSource): LimitedDays | null {
  if (newest?.source !== source) newest = { source, days: daysFrom(source) };
  return newest.days;
}

/** What was made last: what an answer brings is asked for twice. */
let newest: { readonly source: DaysSource; readonly days: LimitedDays | null } | null = null;

function daysFrom({ stats, now, mode, earlierModes, limitsPpm }: DaysSource): LimitedDays | null {
  if (!stats?.rows || !isWarmupMode(mode)) return null;
  const days = countedDays(stats.rows, now);
  if (!days || !isPlausible(days)) return null;
  return { days, limitOn: (date) => limitsPpm[modeOn(date, mode, earlierModes)] };
}

/** The readable days; null without any, or when one of the newest is not readable, or nobody knows where a row belongs. */
function countedDays(rows: readonly StatsRow[], now: EpochMs): readonly CountedDay[] | null {
  if (rows.length > 0 && areCounted(rows, latestDay(now))) return rows;
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
