// Calendar days and durations as plain values. A day is an opaque label 'YYYY-MM-DD' (docs/faults.md T10).

/** A calendar date, `YYYY-MM-DD`. Compares correctly as a string. */
export type IsoDate = string;

/** Milliseconds since the Unix epoch. */
export type EpochMs = number;

export const secondMs = 1_000;
export const minuteMs = 60 * secondMs;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** The UTC calendar date of a moment of the years 1000 to 9999. Every verdict asks it dozens of times. */
export function utcDate(at: EpochMs): IsoDate {
  const date = new Date(at);
  return `${date.getUTCFullYear()}-${twoDigits(date.getUTCMonth() + 1)}-${twoDigits(date.getUTCDate())}`;
}

function twoDigits(count: number): string {
  return count < 10 ? `0${count}` : `${count}`;
}

/** Whether a text is a real calendar date of the form YYYY-MM-DD, of 1970 or later: nobody warmed up a mailbox before. */
export function isIsoDate(text: string): boolean {
  if (!/^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/.test(text) || text < '1970-01-01') return false;
  const day = text.slice(8);
  // Every month has 28 days; what lies behind its end is NaN, or another month's day.
  return day <= '28' || new Date(`${text}T00:00:00Z`).getUTCDate() === Number(day);
}

/** Texts that were dates, as they were read first. */
const readDates = new Map<string, IsoDate>();
/** Years of them; whoever sends more makes us forget. */
const maxReadDates = 2_000;

/** The date that a text is, or null. One string for all who read it: every mailbox has the same thirty. */
export function isoDateOf(text: string): IsoDate | null {
  const known = readDates.get(text);
  if (known !== undefined) return known;
  if (!isIsoDate(text)) return null;
  if (readDates.size >= maxReadDates) readDates.clear();
  readDates.set(text, text);
  return text;
}

/** The date `days` later (earlier when negative). */
export function addDays(date: IsoDate, days: number): IsoDate {
  return utcDate(Date.UTC(Number(date.slice(0, 4)), Number(date.slice(5, 7)) - 1, Number(date.slice(8, 10)) + days));
}

/** Whether a date is a Saturday or a Sunday. */
export function isWeekend(date: IsoDate): boolean {
  const day = new Date(`${date}T00:00:00Z`).getUTCDay();
  return day === 0 || day === 6;
}
