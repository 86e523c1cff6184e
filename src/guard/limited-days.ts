// The days of one mailbox, each under the limit of the mode that it had on that day: what is pooled beyond one mailbox.
import type { StatsAnswer } from '../model/answers.ts';
import { isWarmupMode, type Ppm, type WarmupMode } from '../model/policy.ts';
import { addDays, type EpochMs, type IsoDate } from '../model/time.ts';
import type { EarlierMode } from '../model/verdict.ts';
import { type Counts, type Days, isInvalid, pool, readDays } from './rows.ts';

/** A day whose counts could be read. */
export interface LimitedDay extends Counts {
  readonly date: IsoDate;
  readonly limitPpm: Ppm;
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
 * The days of a mailbox, the oldest first; null when they must not be pooled: nothing could be read, the mode is unknown,
 * or the counts of its newest days make no sense. An unreadable day before them is left out.
 */
export function limitedDays(source: DaysSource): readonly LimitedDay[] | null {
  if (newest?.source !== source) newest = { source, days: daysFrom(source) };
  return newest.days;
}

/** What was made last: what an answer brings is asked for twice. */
let newest: { readonly source: DaysSource; readonly days: readonly LimitedDay[] | null } | null = null;

function daysFrom({ stats, now, mode, earlierModes, limitsPpm }: DaysSource): readonly LimitedDay[] | null {
  const rows = stats?.rows ?? null;
  if (rows === null || !isWarmupMode(mode)) return null;
  const days = readDays(rows, now);
  if (!isSound(days)) return null;
  const limited: LimitedDay[] = [];
  for (const { date, counts } of days.byDate.values()) {
    if (counts) limited.push({ ...counts, date, limitPpm: limitsPpm[modeOn(date, mode, earlierModes)] });
  }
  return limited.sort((a, b) => (a.date < b.date ? -1 : 1));
}

function isSound(days: Days): boolean {
  const { anchor, undated } = days;
  if (anchor === null || undated) return false;
  for (let back = 0; back < soundDays; back += 1) if (isInvalid(days, addDays(anchor, -back))) return false;
  const { sent, bounced } = pool(days, { from: addDays(anchor, 1 - soundDays), to: anchor }, null);
  return bounced <= sent;
}

/** A day on which the mode changed belongs to the mode with which it began, as the evidence has it. */
function modeOn(date: IsoDate, mode: WarmupMode, earlierModes: readonly EarlierMode[]): WarmupMode {
  if (earlierModes.length === 0) return mode;
  return earlierModes.findLast(({ until }) => date <= until)?.mode ?? mode;
}
