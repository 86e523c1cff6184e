// Forecast of the actual intervals of a cadence on a budget. The queue uses the same sums.

import { type Route, routes } from '../../core/answers.ts';
import type { Forecast, NarrowRoutes } from '../../core/mailbox.ts';
import { hourMs, minuteMs } from '../../core/time.ts';
import type { Schedule, ScheduleGaps } from '../../world/schedule.ts';
import type { Budget } from '../budget.ts';
import { judgedRoutes, type MailboxRoute, mailboxRoutes } from './poll.ts';

export type Gaps = Readonly<Record<Route, ScheduleGaps>>;

export interface ForecastInput extends Pick<DemandInput, 'mailboxes' | 'allowedPerMinute' | 'sparePerMinute'> {
  /** Default: none. */
  readonly ownLimits?: readonly OwnRoutes[];
  /** True if few requests are allowed because the API stops all of them for most of the time. Default: false. */
  readonly isHeldBack?: boolean;
  /** Share of the key's limit that is left to others. */
  readonly headroomPpm: number;
  readonly gaps: Gaps;
  /** Minimum age of statistics before an extra poll reads them again; 0 switches early reads off. */
  readonly earlyMs: number;
}

/** Kinds of answers that share a limit of their own. */
interface OwnRoutes {
  readonly routes: readonly Route[];
  readonly perMinute: number;
}

export function ownLimitsOf(budget: Budget): readonly OwnRoutes[] {
  // Health is one signal among others.
  const own = routes.flatMap((route) => (route === 'health' ? [] : (budget.ownLimit(route) ?? [])));
  return [...new Set(own)].map(({ limit, kinds }) => ({
    routes: routes.filter((route) => kinds.includes(route)),
    perMinute: limit,
  }));
}

/** Requests that may come in between: health, the list, and polls whose turn is just before. */
const requestsBetween = 5;

/** Steps of the minute field that repeat evenly. */
const evenMinutes = [1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30, 60];

export function gapsOf(schedules: Readonly<Record<Route, Schedule>>, now: number): Gaps {
  const gaps = Object.entries(schedules).map(([route, schedule]) => [route, schedule.gaps(now)]);
  return Object.fromEntries(gaps) as Record<Route, ScheduleGaps>;
}

export function cadenceOf(gaps: Gaps): Readonly<Record<Route, number>> {
  const cadence = Object.entries(gaps).map(([route, { shortestMs }]) => [route, shortestMs]);
  return Object.fromEntries(cadence) as Record<Route, number>;
}

export function forecastOf(input: ForecastInput): Forecast {
  const { mailboxes, allowedPerMinute, sparePerMinute, isHeldBack = false, headroomPpm, gaps } = input;
  const earlyMs = sparePerMinute > 0 ? input.earlyMs : 0;
  const cadenceMs = cadenceOf(gaps);
  const demand = demandOf({ mailboxes, allowedPerMinute, sparePerMinute, cadenceMs, early: earlyMs > 0 });
  const { asksPerMinute, pacePerMinute, fits, stretch, accountSpacingMs, statsCapMs } = demand;
  const narrow = narrowestOf(input, cadenceMs);
  const narrowed = (route: Route) => (narrow?.routes.includes(route) ? narrow.needsPerMinute / narrow.perMinute : 1);
  const aged = (route: keyof typeof stretch) => gaps[route].longestMs * Math.max(stretch[route], narrowed(route));
  const spaced = (route: Route) => Math.max(gaps[route].longestMs * narrowed(route), accountSpacingMs);
  const stats = fits && narrowed('stats') === 1 ? fittingStatsMs({ ...input, earlyMs }, demand) : aged('stats');
  return {
    mailboxes,
    allowedPerMinute,
    isHeldBack,
    asksPerMinute,
    usedPerMinute: sparePerMinute > 0 ? pacePerMinute : Math.min(asksPerMinute, pacePerMinute),
    narrow,
    fits: fits && narrow === null,
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
    firstSweepMs: Math.max(...sweepsMs(input, demand)),
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
 * Maximum age of statistics if the cadence fits. A run makes all due at once: a mailbox that is first after one run and
 * last after the next also waits for the difference. Early reads rest for earlyMs and wait for their turn by risk.
 */
function fittingStatsMs({ mailboxes, gaps, earlyMs }: ForecastInput, demand: Demand): number {
  const { turnMs, pacePerMinute, roomPerMinute } = demand;
  const betweenMs = (requestsBetween * minuteMs) / pacePerMinute;
  const quickestRoundMs = (mailboxes * minuteMs) / roomPerMinute;
  const byCadence = gaps.stats.longestMs + turnMs.stats - quickestRoundMs + betweenMs;
  if (earlyMs === 0) return byCadence;
  const rested = earlyMs + (patienceFactor - 1) * turnMs.stats;
  return Math.min(byCadence, Math.max(rested, patienceFactor * turnMs.stats) + betweenMs);
}

/** Returns the kinds with the limit furthest below the needs of the cadence, or null if no limit is below. */
function narrowestOf(
  { mailboxes, ownLimits = [] }: ForecastInput,
  cadenceMs: Readonly<Record<Route, number>>,
): NarrowRoutes | null {
  const ofAccount = (route: Route) => route === 'health' || route === 'mailboxes';
  const needs = (route: Route) => ((ofAccount(route) ? 1 : mailboxes) * minuteMs) / cadenceMs[route];
  const narrow = ownLimits.map((own) => ({
    ...own,
    needsPerMinute: own.routes.reduce((sum, route) => sum + needs(route), 0),
  }));
  const [first] = narrow.toSorted((a, b) => b.needsPerMinute / b.perMinute - a.needsPerMinute / a.perMinute);
  return first && first.needsPerMinute > first.perMinute ? first : null;
}

/** First reading of all mailboxes: by the budget, and by each limit of the judged kinds. */
function sweepsMs({ mailboxes, ownLimits = [] }: ForecastInput, { sweepPerMinute }: Demand): readonly number[] {
  const takesMs = (kinds: number, perMinute: number) => (kinds * mailboxes * minuteMs) / perMinute;
  const judged = (routes: readonly Route[]) => judgedRoutes.filter((route) => routes.includes(route)).length;
  return [
    takesMs(judgedRoutes.length, sweepPerMinute),
    ...ownLimits.map(({ routes, perMinute }) => takesMs(judged(routes), perMinute)),
  ];
}

/** Returns the next longer interval that a cron expression can state evenly. */
function evenly(ms: number): number {
  const minutes = evenMinutes.find((step) => step * minuteMs >= ms);
  return minutes === undefined ? Math.ceil(ms / hourMs) * hourMs : minutes * minuteMs;
}

// Demand of a cadence on a budget, and the stretch that makes it fit.

const slowRoutes = ['mailbox', 'dns', 'blacklist'] as const;

/** Maximum share of the requests for health, and as much for the mailbox list. */
const accountShare = 0.1;
/** Maximum share of the rest for the kinds that the guard does not decide on, if the cadence does not fit. */
const slowShare = 0.1;

/**
 * Maximum wait for statistics by risk, in rounds of all mailboxes. A larger value favours risky mailboxes at the cost
 * of calm ones, a smaller one approaches round robin.
 */
const patienceFactor = 1.25;

/** Multiple of its usual rate at which a due kind catches up if the cadence fits. Statistics take the rest. */
const catchUp = 2;

interface DemandInput {
  readonly mailboxes: number;
  readonly allowedPerMinute: number;
  /** Requests a minute beyond the needs of the cadence. */
  readonly sparePerMinute: number;
  readonly cadenceMs: Readonly<Record<Route, number>>;
  /** True if extra polls read statistics early, by risk. */
  readonly early: boolean;
}

export interface Demand {
  readonly asksPerMinute: number;
  /** Maximum of ordinary polls a minute. Actions, urgent polls and mailboxes that were never judged may take more. */
  readonly pacePerMinute: number;
  /** Part of pacePerMinute that health and the list leave to the mailboxes. */
  readonly roomPerMinute: number;
  /** Requests a minute for mailboxes that were never judged: the whole budget, less health and the list. */
  readonly sweepPerMinute: number;
  readonly fits: boolean;
  /** True if the cadence would also fit with the full share of the list. */
  readonly fitsWithList: boolean;
  /** Minimum gap between two polls of health or of the list. */
  readonly accountSpacingMs: number;
  /** Factor by which the polls of a mailbox must be stretched; 1 if the cadence fits. */
  readonly stretch: Readonly<Record<MailboxRoute, number>>;
  /** Gap between the polls of a mailbox while all kinds have polls due. */
  readonly turnMs: Readonly<Record<MailboxRoute, number>>;
  /** Mailboxes with older statistics take precedence over every other. */
  readonly statsCapMs: number;
}

/** A run makes all mailboxes due at once: catching up needs this share beyond the needs of the cadence. */
const leastSpareShare = 0.1;

/** Health and the list keep their cadence within their share; the other kinds are stretched alike where allowed. */
export function demandOf({ mailboxes, allowedPerMinute, sparePerMinute, cadenceMs, early }: DemandInput): Demand {
  const accountSpacingMs = minuteMs / (accountShare * allowedPerMinute);
  const perMinute = (everyMs: number) => minuteMs / everyMs;
  const ofAccount = [cadenceMs.health, cadenceMs.mailboxes];
  const account = ofAccount.reduce((sum, every) => sum + perMinute(Math.max(every, accountSpacingMs)), 0);
  const of = (route: MailboxRoute) => mailboxes * perMinute(cadenceMs[route]);
  const slow = slowRoutes.reduce((sum, route) => sum + of(route), 0);
  const all = of('stats') + of('warmup') + slow;
  const asksPerMinute = ofAccount.reduce((sum, every) => sum + perMinute(every), 0) + all;
  const spare = Math.max(sparePerMinute, leastSpareShare * allowedPerMinute);
  const pacePerMinute = Math.min(allowedPerMinute, asksPerMinute + spare);
  const room = pacePerMinute - account;
  const fits = all <= room;
  const ofSlow = fits ? 1 : Math.max(all / room, slow / (slowShare * room));
  const ofGuard = fits ? 1 : Math.max(1, (all - slow) / (room - slow / ofSlow));
  const stretch = { stats: ofGuard, warmup: ofGuard, mailbox: ofSlow, dns: ofSlow, blacklist: ofSlow };
  const others = of('warmup') / ofGuard + slow / ofSlow;
  const roundMs = (mailboxes * minuteMs) / (room - others);
  const patientMs = early ? patienceFactor * roundMs : cadenceMs.stats * ofGuard;
  const turns = mailboxRoutes.map((route) => [route, (cadenceMs[route] * stretch[route]) / (fits ? catchUp : 1)]);
  const turnMs = { ...(Object.fromEntries(turns) as Record<MailboxRoute, number>) };
  if (fits) turnMs.stats = (mailboxes * minuteMs) / Math.max(room - catchUp * others, room / catchUp);
  return {
    asksPerMinute,
    pacePerMinute,
    roomPerMinute: room,
    sweepPerMinute: allowedPerMinute - account,
    fits,
    fitsWithList: all <= pacePerMinute - 2 * accountShare * allowedPerMinute,
    accountSpacingMs,
    stretch,
    turnMs,
    statsCapMs: fits ? Math.min(patientMs, cadenceMs.stats) : patientMs,
  };
}
