// The honest plan: what a cadence becomes on a budget. Pure; the same sums as the queue works by.
import type { Route } from '../model/answers.ts';
import type { Forecast } from '../model/forecast.ts';
import { hourMs, minuteMs } from '../model/time.ts';
import type { Schedule, ScheduleGaps } from '../world.ts';
import { demandOf } from './demand.ts';

export type Gaps = Readonly<Record<Route, ScheduleGaps>>;

export interface ForecastInput {
  readonly mailboxes: number;
  /** Requests a minute that may be made. */
  readonly allowedPerMinute: number;
  /** The share of the key's limit that is left to others, parts per million. */
  readonly headroomPpm: number;
  readonly gaps: Gaps;
  /** Whether statistics are read early, by risk. */
  readonly early: boolean;
}

/** Steps of the minute field that come around evenly; beyond an hour, whole hours. */
const evenMinutes = [1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30, 60];

/** How far apart the runs of each schedule are. */
export function gapsOf(schedules: Readonly<Record<Route, Schedule>>, now: number): Gaps {
  const gaps = Object.entries(schedules).map(([route, schedule]) => [route, schedule.gaps(now)]);
  return Object.fromEntries(gaps) as Record<Route, ScheduleGaps>;
}

/** The cadence that a demand is summed up from: as often as it runs where it runs most. */
export function cadenceOf(gaps: Gaps): Readonly<Record<Route, number>> {
  const cadence = Object.entries(gaps).map(([route, { shortestMs }]) => [route, shortestMs]);
  return Object.fromEntries(cadence) as Record<Route, number>;
}

export function forecastOf({ mailboxes, allowedPerMinute, headroomPpm, gaps, early }: ForecastInput): Forecast {
  const cadenceMs = cadenceOf(gaps);
  const demand = demandOf({ mailboxes, allowedPerMinute, cadenceMs, early });
  const { asksPerMinute, fits, stretch, accountSpacingMs, statsCapMs } = demand;
  const aged = (route: keyof typeof stretch) => gaps[route].longestMs * stretch[route];
  const spaced = (route: Route) => Math.max(gaps[route].longestMs, accountSpacingMs);
  const stats = fits ? Math.min(aged('stats'), early ? statsCapMs : Number.POSITIVE_INFINITY) : aged('stats');
  return {
    mailboxes,
    allowedPerMinute,
    asksPerMinute,
    fits,
    oldestMs: {
      health: spaced('health'),
      mailboxes: spaced('mailboxes'),
      stats,
      warmup: aged('warmup'),
      mailbox: aged('mailbox'),
      dns: aged('dns'),
      blacklist: aged('blacklist'),
    },
    calmestMs: Math.max(stats, early ? statsCapMs : 0),
    mend: fits
      ? null
      : {
          requestsPerMinute: Math.ceil((asksPerMinute * 1e6) / (1e6 - headroomPpm)),
          statsMs: evenly(cadenceMs.stats * stretch.stats),
          warmupMs: evenly(cadenceMs.warmup * stretch.warmup),
        },
  };
}

/** The next longer interval that a cron expression can say evenly. */
function evenly(ms: number): number {
  const minutes = evenMinutes.find((step) => step * minuteMs >= ms);
  return minutes === undefined ? Math.ceil(ms / hourMs) * hourMs : minutes * minuteMs;
}
