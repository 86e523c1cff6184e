// When something is due: cron expressions, read with node-cron's matcher. It has no clock of its own to replace, hence the asking.
import { createTask, validateDetailed } from 'node-cron';

/** When something is due, as a cron expression in its time zone (a leading seconds field is allowed). */
export interface Schedule {
  readonly expression: string;
  /** How often this schedule must be asked: 1,000 or 60,000 ms. */
  readonly stepMs: number;
  /** Whether a run fell into (after, until]. Runs missed together count once. */
  dueBetween(after: number, until: number): boolean;
  /** The newest run up to `now`; where it lies too far back to look for, the moment where the search ended. */
  lastRun(now: number): number;
  /** How far apart runs are, milliseconds, as the time before the first asking shows it. */
  gaps(now: number): ScheduleGaps;
}

export interface ScheduleGaps {
  readonly shortestMs: number;
  readonly longestMs: number;
}

/** A look-back longer than this many steps (a long downtime) is answered with "due": one early poll harms nobody. */
const maxStepsBack = 3_000;
/** So many runs show how far apart they are. */
const runsCompared = 200;

/** A schedule never changes, and hundreds of accounts share a few. */
const schedules = new Map<string, Schedule>();

/** Reads a cron expression. Throws an Error whose message says what is wrong. */
export function cronSchedule(expression: string, timeZone = 'UTC'): Schedule {
  const key = `${timeZone} ${expression}`;
  const schedule = schedules.get(key) ?? readSchedule(expression, timeZone);
  schedules.set(key, schedule);
  return schedule;
}

const maxCronLetters = 256;
const cronNames =
  'jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|january|february|march|april|june|july|august|september|october|' +
  'november|december|sun|mon|tue|wed|thu|fri|sat|sunday|monday|tuesday|wednesday|thursday|friday|saturday';
const cronValue = `(?:\\d{1,2}|${cronNames})`;
/** A value, a range, a step, or a last, nearest or n-th day: no number in it has more than two digits. */
const cronToken = new RegExp(`^(?:[*?]|l|lw|l-\\d{1,2}|${cronValue}(?:l|w|#\\d|-${cronValue})?)(?:/\\d{1,5})?$`, 'i');

/**
 * Throws when the expression could be written out to more than a few thousand values: node-cron writes ranges out before
 * it looks at their bounds, and one of a million takes gigabytes.
 */
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
  const runsAt = timeZone === 'UTC' ? rememberingRuns(expression) : askedRuns(expression, timeZone);
  let gaps: ScheduleGaps | undefined;
  return {
    expression,
    stepMs,
    dueBetween(after, until) {
      if (until - after > maxStepsBack * stepMs) return true;
      for (let at = (Math.floor(after / stepMs) + 1) * stepMs; at <= until; at += stepMs) {
        if (runsAt(at)) return true;
      }
      return false;
    },
    lastRun(now) {
      const newest = Math.floor(now / stepMs) * stepMs;
      const oldest = newest - maxStepsBack * stepMs;
      let at = newest;
      while (at > oldest && !runsAt(at)) at -= stepMs;
      return at;
    },
    gaps(now) {
      gaps ??= gapsBefore(runsAt, Math.floor(now / stepMs) * stepMs, stepMs);
      return gaps;
    },
  };
}

/** Whether a schedule has a run at a step's beginning. */
type RunsAt = (at: number) => boolean;

function askedRuns(expression: string, timeZone: string): RunsAt {
  const task = createTask(expression, () => {}, { timezone: timeZone });
  return (at) => task.match(new Date(at));
}

const [secondMs, minuteMs, hourMs, dayMs] = [1_000, 60_000, 3_600_000, 86_400_000];
/** Days that are remembered: then it starts over. */
const maxPartsKept = 2_000;
/** What node-cron reads names as. */
const named: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

/**
 * Asks node-cron as seldom as it can: its matcher formats each instant with Intl, some 20 microseconds. In UTC an instant is
 * a run when its second, its minute, its hour and its day fit, each by itself: so each is asked for by itself, and once.
 */
function rememberingRuns(expression: string): RunsAt {
  const fields = (named[expression.trim().toLowerCase()] ?? expression).trim().split(/\s+/);
  const [second = '*', minute = '*', hour = '*', ...day] = fields.length === 6 ? fields : ['*', ...fields];
  const parts = [
    partFits(`${second} * * * * *`, secondMs, minuteMs),
    partFits(`${minute} * * * *`, minuteMs, hourMs),
    partFits(`* ${hour} * * *`, hourMs, dayMs),
    partFits(`* * ${day.join(' ')}`, dayMs, Number.POSITIVE_INFINITY),
  ];
  return (at) => parts.every((fits) => fits(at));
}

/** Whether one part of an instant fits: the one of `unitMs`, which is the same again after `periodMs`. */
function partFits(expression: string, unitMs: number, periodMs: number): RunsAt {
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

/** Where fewer than two runs are found, both gaps are as long as the search went. */
function gapsBefore(runsAt: RunsAt, newest: number, stepMs: number): ScheduleGaps {
  const searchedMs = maxStepsBack * stepMs;
  const runs: number[] = [];
  for (let at = newest; at > newest - searchedMs && runs.length < runsCompared; at -= stepMs) {
    if (runsAt(at)) runs.push(at);
  }
  const gaps = runs.slice(1).map((run, index) => (runs[index] ?? run) - run);
  if (gaps.length === 0) return { shortestMs: searchedMs, longestMs: searchedMs };
  return { shortestMs: Math.min(...gaps), longestMs: Math.max(...gaps) };
}
