// Calendar days and durations as plain values. A day is an opaque label 'YYYY-MM-DD' (docs/faults.md T10).

/** A calendar date, `YYYY-MM-DD`. Compares correctly as a string. */
export type IsoDate = string;

/** Milliseconds since the Unix epoch. */
export type EpochMs = number;

export const secondMs = 1_000;
export const minuteMs = 60 * secondMs;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/**
 * Milliseconds since a moment of the wall clock. A moment ahead of now means that the clock was set back: the result is
 * Infinity, so that no wait lasts until the clock catches up, and the moment does not count as recent.
 */
export function elapsedMs(since: EpochMs, now: EpochMs): number {
  return since > now ? Number.POSITIVE_INFINITY : now - since;
}

/** The UTC calendar date of a moment of the years 1000 to 9999. */
export function utcDate(at: EpochMs): IsoDate {
  return dateOf(Math.floor(at / dayMs));
}

/** The date so many days after the epoch. */
function dateOf(day: number): IsoDate {
  const at = new Date(day * dayMs);
  return `${at.getUTCFullYear()}-${twoDigits(at.getUTCMonth() + 1)}-${twoDigits(at.getUTCDate())}`;
}

function twoDigits(count: number): string {
  return count < 10 ? `0${count}` : `${count}`;
}

/** Days since the epoch. A day that its month does not have is one of the next. */
export function dayOf(date: IsoDate): number {
  return Date.UTC(Number(date.slice(0, 4)), Number(date.slice(5, 7)) - 1, Number(date.slice(8, 10))) / dayMs;
}

/** True for a real calendar date of the form YYYY-MM-DD from 1970 on. */
export function isIsoDate(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && text >= '1970-01-01' && dateOf(dayOf(text)) === text;
}

/** The date so many days later (earlier when negative). */
export function addDays(date: IsoDate, later: number): IsoDate {
  return dateOf(dayOf(date) + later);
}

/** True for a Saturday or a Sunday. */
export function isWeekend(date: IsoDate): boolean {
  // The epoch began on a Thursday.
  const fromSunday = (dayOf(date) + 4) % 7;
  return fromSunday === 0 || fromSunday === 6;
}
