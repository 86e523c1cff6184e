// Calendar days and durations. A day is an opaque label (docs/faults.md T10).

/** `YYYY-MM-DD`, which compares correctly as a string. */
export type IsoDate = string;

/** Milliseconds since the Unix epoch. */
export type EpochMs = number;

export const secondMs = 1_000;
export const minuteMs = 60 * secondMs;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** Wait after a 429 without Retry-After: the length of the usual window of a rate limit (docs/faults.md H10). */
export const throttledWaitMs = 60 * secondMs;

/** A moment in the future means that the clock was set back: it returns Infinity, so that no wait lasts until then. */
export function elapsedMs(since: EpochMs, now: EpochMs): number {
  return since > now ? Number.POSITIVE_INFINITY : now - since;
}

/** Valid for the years 1970 to 9999. */
export function utcDate(at: EpochMs): IsoDate {
  return new Date(at).toISOString().slice(0, 10);
}

/** Days since the epoch. A day beyond its month is one of the next month. */
export function dayOf(date: IsoDate): number {
  return Date.UTC(Number(date.slice(0, 4)), Number(date.slice(5, 7)) - 1, Number(date.slice(8, 10))) / dayMs;
}

/** True for an existing date from 1970 on. */
export function isIsoDate(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text) || text < '1970-01-01') return false;
  const day = new Date(dayOf(text) * dayMs);
  return day.getUTCMonth() + 1 === Number(text.slice(5, 7)) && day.getUTCDate() === Number(text.slice(8));
}

/** `later` may be negative. */
export function addDays(date: IsoDate, later: number): IsoDate {
  return utcDate((dayOf(date) + later) * dayMs);
}

export function isWeekend(date: IsoDate): boolean {
  // The epoch began on a Thursday.
  const fromSunday = (dayOf(date) + 4) % 7;
  return fromSunday === 0 || fromSunday === 6;
}
