// The honest plan: what a cadence becomes on a budget. Pure; the same sums as the queue works by.
import type { Route } from '../model/answers.ts';
import type { Forecast } from '../model/forecast.ts';
import { hourMs, minuteMs } from '../model/time.ts';
import type { Schedule, ScheduleGaps } from '../schedule.ts';
import { type Demand, demandOf, patienceFactor } from './demand.ts';
import { judgedRoutes } from './sweep.ts';

export type Gaps = Readonly<Record<Route, ScheduleGaps>>;

export interface ForecastInput {
  readonly mailboxes: number;
  /** Requests a minute that may be made. */
  readonly allowedPerMinute: number;
  /** They are so few because the API lets nothing start for most of the time. Default: false. */
  readonly isHeldBack?: boolean;
  /** The share of the key's limit that is left to others, parts per million. */
  readonly headroomPpm: number;
  readonly gaps: Gaps;
  /** Spare requests read a mailbox's statistics again at the earliest after this, milliseconds; 0: never early. */
  readonly earlyMs: number;
}

/** Health, the list, and what has its turn just before. */
const requestsBetween = 5;

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

export function forecastOf(input: ForecastInput): Forecast {
  const { mailboxes, allowedPerMinute, isHeldBack = false, headroomPpm, gaps, earlyMs } = input;
  const cadenceMs = cadenceOf(gaps);
  const demand = demandOf({ mailboxes, allowedPerMinute, cadenceMs, early: earlyMs > 0 });
  const { asksPerMinute, roomPerMinute, fits, stretch, accountSpacingMs, statsCapMs } = demand;
  const aged = (route: keyof typeof stretch) => gaps[route].longestMs * stretch[route];
  const spaced = (route: Route) => Math.max(gaps[route].longestMs, accountSpacingMs);
  const stats = fits ? fittingStatsMs(input, demand) : aged('stats');
  return {
    mailboxes,
    allowedPerMinute,
    isHeldBack,
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
    calmestMs: fits ? stats : Math.max(stats, earlyMs > 0 ? statsCapMs : 0),
    firstSweepMs: (judgedRoutes.length * mailboxes * minuteMs) / roomPerMinute,
    mend: fits
      ? null
      : {
          requestsPerMinute: Math.ceil((asksPerMinute * 1e6) / (1e6 - headroomPpm)),
          statsMs: evenly(cadenceMs.stats * stretch.stats),
          warmupMs: evenly(cadenceMs.warmup * stretch.warmup),
        },
  };
}

/**
 * How old statistics get where the cadence fits. A run makes all of them due at once: who is read first after one run and
 * last after the next, when other kinds are due too, waits for the difference besides. Read early, they rest for earlyMs
 * and wait for their turn by risk, which the cap on staleness bounds. A few other requests may come in between.
 */
function fittingStatsMs({ mailboxes, allowedPerMinute, gaps, earlyMs }: ForecastInput, demand: Demand): number {
  const { turnMs, roomPerMinute } = demand;
  const betweenMs = (requestsBetween * minuteMs) / allowedPerMinute;
  const quickestRoundMs = (mailboxes * minuteMs) / roomPerMinute;
  const byCadence = gaps.stats.longestMs + turnMs.stats - quickestRoundMs + betweenMs;
  if (earlyMs === 0) return byCadence;
  const rested = earlyMs + (patienceFactor - 1) * turnMs.stats;
  return Math.min(byCadence, Math.max(rested, patienceFactor * turnMs.stats) + betweenMs);
}

/** The next longer interval that a cron expression can say evenly. */
function evenly(ms: number): number {
  const minutes = evenMinutes.find((step) => step * minuteMs >= ms);
  return minutes === undefined ? Math.ceil(ms / hourMs) * hourMs : minutes * minuteMs;
}
