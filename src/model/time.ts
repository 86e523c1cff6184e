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
 * How long ago a moment was that was recorded by the wall clock. A moment ahead of now means that the clock was set back since:
 * Infinity, so that nobody waits for the clock to catch up, and nothing counts as recent until it does.
 */
export function elapsedMs(since: EpochMs, now: EpochMs): number {
  return since > now ? Number.POSITIVE_INFINITY : now - since;
}

/** Each verdict asks for the same few dates dozens of times: so many are remembered. */
const datesKept = 1_000;
/** By days since the epoch, and the other way round. */
const dates = new Map<number, IsoDate>();
const days = new Map<IsoDate, number>();

/** The UTC calendar date of a moment of the years 1000 to 9999. */
export function utcDate(at: EpochMs): IsoDate {
  return dateOf(Math.floor(at / dayMs));
}

/** The date so many days after the epoch. */
export function dateOf(day: number): IsoDate {
  const known = dates.get(day);
  if (known !== undefined) return known;
  const at = new Date(day * dayMs);
  const date = `${at.getUTCFullYear()}-${twoDigits(at.getUTCMonth() + 1)}-${twoDigits(at.getUTCDate())}`;
  if (dates.size >= datesKept) {
    dates.clear();
    days.clear();
  }
  dates.set(day, date);
  days.set(date, day);
  return date;
}

function twoDigits(count: number): string {
  return count < 10 ? `0${count}` : `${count}`;
}

/** Days since the epoch. A day that its month does not have is one of the next. */
export function dayOf(date: IsoDate): number {
  const known = days.get(date);
  if (known !== undefined) return known;
  return Date.UTC(Number(date.slice(0, 4)), Number(date.slice(5, 7)) - 1, Number(date.slice(8, 10))) / dayMs;
}

/** Whether a text is a real calendar date of the form YYYY-MM-DD, of 1970 or later: nobody warmed up a mailbox before. */
export function isIsoDate(text: string): boolean {
  if (text.length !== 10 || text < '1970-01-01') return false;
  if (days.has(text)) return true;
  return /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/.test(text) && dateOf(dayOf(text)) === text;
}

/** The date that a text is, or null. One string for all who read it: every mailbox has the same thirty. */
export function isoDateOf(text: string): IsoDate | null {
  return isIsoDate(text) ? dateOf(dayOf(text)) : null;
}

/** The date so many days later (earlier when negative). */
export function addDays(date: IsoDate, later: number): IsoDate {
  return dateOf(dayOf(date) + later);
}

/** Whether a date is a Saturday or a Sunday. */
export function isWeekend(date: IsoDate): boolean {
  // The epoch began on a Thursday.
  const fromSunday = (dayOf(date) + 4) % 7;
  return fromSunday === 0 || fromSunday === 6;
}
