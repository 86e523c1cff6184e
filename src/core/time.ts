// Calendar days, durations, and windows by the clock of a time zone. A day is an opaque label (docs/faults.md T10).

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

const dates = new Map<number, IsoDate>();

/** Valid for the years 1970 to 9999. The text of a day is kept, because Date takes long to write it. */
export function utcDate(at: EpochMs): IsoDate {
  const day = Math.floor(at / dayMs);
  const known = dates.get(day);
  if (known) return known;
  const date = new Date(at).toISOString().slice(0, 10);
  dates.set(day, date);
  return date;
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
  return weekdayOf(date) >= weekdays.indexOf('sat');
}

/** Place in `weekdays`. The epoch began on a Thursday. */
function weekdayOf(date: IsoDate): number {
  return (dayOf(date) + 3) % weekdays.length;
}

// Wall clocks of time zones.

export function wallClock(at: EpochMs, zone: string): { readonly date: IsoDate; readonly time: string } {
  if (zone === 'UTC') {
    const written = new Date(at).toISOString();
    return { date: written.slice(0, 10), time: written.slice(11, 16) };
  }
  // Sweden writes dates and times in ISO 8601.
  const [date = '', time = ''] = formatOf(zone).format(at).split(' ');
  return { date, time };
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Cached, because a formatter is slow to create. */
function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known) return known;
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' });
  formats.set(timeZone, format);
  return format;
}

/** Reads `22:30` as milliseconds since midnight. */
export function timeOfDayMs(time: string): number {
  return Number(time.slice(0, 2)) * hourMs + Number(time.slice(3, 5)) * minuteMs;
}

/**
 * Moment at which the zone's clock shows a time, in milliseconds since midnight. If clocks go back, the first of two such
 * moments; if they skip the time, the moment that is as long after the change.
 */
export function momentAt(date: IsoDate, timeMs: number, zone: string): EpochMs {
  const shown = dayOf(date) * dayMs + timeMs;
  const [before, after] = [shown - offsetMs(shown - dayMs, zone), shown - offsetMs(shown + dayMs, zone)];
  return [before, after].find((at) => at + offsetMs(at, zone) === shown) ?? before;
}

/** Distance of the zone's clock from UTC. */
export function offsetMs(at: EpochMs, zone: string): number {
  const { date, time } = wallClock(at, zone);
  return dayOf(date) * dayMs + timeOfDayMs(time) - Math.floor(at / minuteMs) * minuteMs;
}

// Mute times: weekly windows in which routes send no messages.

export const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

/** Window that begins on each of the days. Its times are since midnight; `until` is a day later unless it is after `from`. */
export interface WeeklyWindow {
  readonly days?: readonly (typeof weekdays)[number][];
  readonly fromMs?: number;
  readonly untilMs?: number;
}

export interface MuteTime {
  readonly name: string;
  readonly timeZone: string;
  readonly weekly: readonly WeeklyWindow[];
}

/** Longest time that is searched for an end: windows that last longer cover the whole week. */
const longestMuteMs = 8 * dayMs;

/** Returns the end of the windows that follow each other without a gap, or null if none is on. */
export function mutedUntil(mute: MuteTime, now: EpochMs): EpochMs | null {
  let until = now;
  while (until - now < longestMuteMs) {
    const end = endOfWindow(mute, until);
    if (end === null) break;
    until = end;
  }
  return until === now ? null : until;
}

function endOfWindow({ weekly, timeZone }: MuteTime, now: EpochMs): EpochMs | null {
  const today = wallClock(now, timeZone).date;
  const ends = [addDays(today, -1), today].flatMap((day) =>
    weekly.flatMap(({ days = weekdays, fromMs = 0, untilMs = dayMs }) => {
      const weekday = weekdays[weekdayOf(day)];
      if (weekday === undefined || !days.includes(weekday)) return [];
      const end = momentAt(untilMs > fromMs ? day : addDays(day, 1), untilMs, timeZone);
      return momentAt(day, fromMs, timeZone) <= now && now < end ? [end] : [];
    }),
  );
  return ends.length === 0 ? null : Math.max(...ends);
}

/** Mute times that are on, with their ends. */
export function muteTimesOn(
  mutes: readonly MuteTime[],
  now: EpochMs,
): readonly { readonly name: string; readonly until: EpochMs }[] {
  return mutes.flatMap((mute) => {
    const until = mutedUntil(mute, now);
    return until === null ? [] : [{ name: mute.name, until }];
  });
}
