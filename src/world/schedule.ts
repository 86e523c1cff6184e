// Schedules: cron expressions, read with node-cron's matcher, since its own clock can't be replaced.
import { createTask, validateDetailed } from 'node-cron';
import { dayMs, hourMs, minuteMs, offsetMs, secondMs, wallClock } from '../core/time.ts';

/** A leading field of seconds is allowed. */
export interface Schedule {
  /** Interval at which this schedule must be asked: 1,000 or 60,000 ms. */
  readonly stepMs: number;
  /** Newest run in (after, until], even if that is a long time, or null if there is none. */
  newestRun(after: number, until: number): number | null;
  dueBetween(after: number, until: number): boolean;
  /** Gaps in milliseconds, in the time before the first call. */
  gaps(now: number): ScheduleGaps;
}

export interface ScheduleGaps {
  readonly shortestMs: number;
  readonly longestMs: number;
}

/** Number of runs whose distances are compared, and how far back they are searched. */
const runsCompared = 200;
const comparedMs = 400 * dayMs;

/** Cache: a schedule never changes, and hundreds of accounts share a few. */
const schedules = new Map<string, Schedule>();

export function cronSchedule(expression: string, timeZone = 'UTC'): Schedule {
  const key = `${timeZone} ${expression}`;
  const schedule = schedules.get(key) ?? readSchedule(expression, timeZone);
  schedules.set(key, schedule);
  return schedule;
}

/** Returns true for a minute of local time that occurs twice, on the night when clocks go back, and within any minute. */
export function isSameLocalMinute(one: number, other: number, timeZone: string): boolean {
  const [shown, shownToo] = [wallClock(one, timeZone), wallClock(other, timeZone)];
  return shown.date === shownToo.date && shown.time === shownToo.time;
}

/** Returns null for an expression that has at most one of day of the month and day of the week. */
export function bothDaysDoubt(expression: string): string | null {
  const [weekday = '*', , day = '*'] = expression.trim().split(/\s+/).reverse();
  if (/^[*?]/.test(weekday) || /^[*?]/.test(day)) return null;
  return 'has a day of the month and a day of the week: it runs only on days that are both';
}

const maxCronLetters = 256;
const cronNames =
  'jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|january|february|march|april|june|july|august|september|october|' +
  'november|december|sun|mon|tue|wed|thu|fri|sat|sunday|monday|tuesday|wednesday|thursday|friday|saturday';
const cronValue = `(?:\\d{1,2}|${cronNames})`;
/** Value, range, step, or last, nearest or n-th day: no number in it has more than two digits. */
const cronToken = new RegExp(`^(?:[*?]|l|lw|l-\\d{1,2}|${cronValue}(?:l|w|#\\d|-${cronValue})?)(?:/\\d{1,5})?$`, 'i');

/** node-cron expands ranges before it checks their bounds, and a range of a million takes gigabytes. */
function refuseEndless(expression: string): void {
  if (expression.length > maxCronLetters) throw new Error(`it is longer than ${maxCronLetters} characters`);
  const fields = expression.trim().split(/\s+/);
  if (fields.length === 1 && /^@[a-z]+$/i.test(fields[0] ?? '')) return;
  if (fields.length < 5 || fields.length > 6) throw new Error(`expected 5 or 6 fields but got ${fields.length}`);
  const wrong = fields.flatMap((field) => field.split(',')).find((token) => !cronToken.test(token));
  if (wrong !== undefined) throw new Error(`"${wrong}" is not a value, range or step of a field`);
}

function readSchedule(expression: string, timeZone: string): Schedule {
  refuseEndless(expression);
  const { valid, errors } = validateDetailed(expression);
  if (!valid) throw new Error(errors.map((error) => error.message).join('; '));
  const stepMs = expression.trim().split(/\s+/).length === 6 ? 1_000 : 60_000;
  const before =
    timeZone === 'UTC' ? partsOf(expression, stepMs) : inZone(partsOf(expression, stepMs), timeZone, stepMs);
  let gaps: ScheduleGaps | undefined;
  const newestRun = (after: number, until: number) => {
    let at = Math.floor(until / stepMs) * stepMs;
    while (at > after) {
      const earlier = before(at);
      if (earlier === at) return at;
      at = earlier;
    }
    return null;
  };
  return {
    stepMs,
    newestRun,
    dueBetween: (after, until) => newestRun(after, until) !== null,
    gaps(now) {
      gaps ??= gapsBefore(newestRun, now);
      return gaps;
    },
  };
}

/** Start of a step if a schedule has a run then, else an earlier step after which it has none. */
type NewestBefore = (at: number) => number;

/** The cache is cleared beyond this number of days. */
const maxPartsKept = 2_000;
const named: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

/** Matches each part by itself, and once: node-cron formats each instant with Intl, some 20 microseconds each. */
function partsOf(expression: string, stepMs: number): NewestBefore {
  const fields = (named[expression.trim().toLowerCase()] ?? expression).trim().split(/\s+/);
  const [second = '*', minute = '*', hour = '*', ...day] = fields.length === 6 ? fields : ['*', ...fields];
  const parts = [
    { unitMs: dayMs, fits: partFits(`* * ${day.join(' ')}`, dayMs, Number.POSITIVE_INFINITY) },
    { unitMs: hourMs, fits: partFits(`* ${hour} * * *`, hourMs, dayMs) },
    { unitMs: minuteMs, fits: partFits(`${minute} * * * *`, minuteMs, hourMs) },
    { unitMs: secondMs, fits: partFits(`${second} * * * * *`, secondMs, minuteMs) },
  ];
  return (at) => {
    const missed = parts.find(({ fits }) => !fits(at));
    return missed === undefined ? at : Math.floor(at / missed.unitMs) * missed.unitMs - stepMs;
  };
}

/** Unit in which time zones change their offset from UTC: quarters of an hour. */
const quarterMs = 15 * minuteMs;

/** Like `partsOf`, by a zone's wall clock. A step back across a change of the offset is a short one. */
function inZone(before: NewestBefore, timeZone: string, stepMs: number): NewestBefore {
  const distances = new Map<number, number>();
  const distance = (at: number) => {
    const quarter = Math.floor(at / quarterMs) * quarterMs;
    const found = distances.get(quarter) ?? offsetMs(quarter, timeZone);
    if (distances.size > maxPartsKept) distances.clear();
    distances.set(quarter, found);
    return found;
  };
  return (at) => {
    const away = distance(at);
    const earlier = before(at + away) - away;
    return earlier === at || distance(earlier) === away
      ? earlier
      : Math.max(earlier, Math.floor(at / quarterMs) * quarterMs - stepMs);
  };
}

/** Matcher for the part of an instant with the unit `unitMs`, which repeats after `periodMs`. */
function partFits(expression: string, unitMs: number, periodMs: number): (at: number) => boolean {
  if (/^[* ]+$/.test(expression)) return () => true;
  const task = createTask(expression, () => {}, { timezone: 'UTC' });
  const known = new Map<number, boolean>();
  return (at) => {
    const part = Math.floor((at % periodMs) / unitMs) * unitMs;
    const fits = known.get(part) ?? task.match(new Date(part));
    if (known.size > maxPartsKept) known.clear();
    known.set(part, fits);
    return fits;
  };
}

/** Gaps between runs before `now`. If there are fewer than two runs, both gaps are as long as the search. */
function gapsBefore(newestRun: Schedule['newestRun'], now: number): ScheduleGaps {
  const oldest = now - comparedMs;
  const runs: number[] = [];
  for (let run = newestRun(oldest, now); run !== null && runs.length < runsCompared; run = newestRun(oldest, run - 1))
    runs.push(run);
  const gaps = runs.slice(1).map((run, index) => (runs[index] ?? run) - run);
  if (gaps.length === 0) return { shortestMs: comparedMs, longestMs: comparedMs };
  return { shortestMs: Math.min(...gaps), longestMs: Math.max(...gaps) };
}
