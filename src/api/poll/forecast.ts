// The honest plan: what a cadence becomes on a budget. Pure; the same sums as the queue works by.

import { type Route, routes } from '../../core/answers.ts';
import type { Forecast, NarrowRoutes } from '../../core/mailbox.ts';
import { hourMs, minuteMs } from '../../core/time.ts';
import type { Schedule, ScheduleGaps } from '../../world/schedule.ts';
import type { Budget } from '../budget.ts';
import { type MailboxRoute, mailboxRoutes } from './poll.ts';
import { judgedRoutes } from './sweep.ts';

export type Gaps = Readonly<Record<Route, ScheduleGaps>>;

export interface ForecastInput {
  readonly mailboxes: number;
  /** Requests a minute that may be made. */
  readonly allowedPerMinute: number;
  /** Of them, what may be spent beyond what the cadence needs. */
  readonly sparePerMinute: number;
  /** The limits that kinds of answers have of their own. Default: none. */
  readonly ownLimits?: readonly OwnRoutes[];
  /** They are so few because the API lets nothing start for most of the time. Default: false. */
  readonly isHeldBack?: boolean;
  /** The share of the key's limit that is left to others, parts per million. */
  readonly headroomPpm: number;
  readonly gaps: Gaps;
  /** Spare requests read a mailbox's statistics again at the earliest after this, milliseconds; 0: never early. */
  readonly earlyMs: number;
}

/** Kinds of answers that share a limit of their own. */
interface OwnRoutes {
  readonly routes: readonly Route[];
  /** Requests a minute that may be made. */
  readonly perMinute: number;
}

/** Limits of single kinds of requests, as the API told them. */
export function ownLimitsOf(budget: Budget): readonly OwnRoutes[] {
  // Health is one signal among others.
  const own = routes.flatMap((route) => (route === 'health' ? [] : (budget.ownLimit(route) ?? [])));
  return [...new Set(own)].map(({ limit, kinds }) => ({
    routes: routes.filter((route) => kinds.includes(route)),
    perMinute: limit,
  }));
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
  const { mailboxes, allowedPerMinute, sparePerMinute, isHeldBack = false, headroomPpm, gaps, earlyMs } = input;
  const cadenceMs = cadenceOf(gaps);
  const demand = demandOf({ mailboxes, allowedPerMinute, sparePerMinute, cadenceMs, early: earlyMs > 0 });
  const { asksPerMinute, pacePerMinute, fits, stretch, accountSpacingMs, statsCapMs } = demand;
  const narrow = narrowestOf(input, cadenceMs);
  const narrowed = (route: Route) => (narrow?.routes.includes(route) ? narrow.needsPerMinute / narrow.perMinute : 1);
  const aged = (route: keyof typeof stretch) => gaps[route].longestMs * Math.max(stretch[route], narrowed(route));
  const spaced = (route: Route) => Math.max(gaps[route].longestMs * narrowed(route), accountSpacingMs);
  const stats = fits && narrowed('stats') === 1 ? fittingStatsMs(input, demand) : aged('stats');
  return {
    mailboxes,
    allowedPerMinute,
    isHeldBack,
    asksPerMinute,
    usedPerMinute: pacePerMinute,
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
 * How old statistics get where the cadence fits. A run makes all of them due at once: who is read first after one run and
 * last after the next, when other kinds are due too, waits for the difference besides. Read early, they rest for earlyMs
 * and wait for their turn by risk, which the cap on staleness bounds. A few other requests may come in between.
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

/** The kinds whose own limit is the furthest below what the cadence needs of them; null if none is below. */
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

/** How long all of them take to be read for the first time: by the budget, and by each limit of what the guard judges by. */
function sweepsMs({ mailboxes, ownLimits = [] }: ForecastInput, { sweepPerMinute }: Demand): readonly number[] {
  const takesMs = (kinds: number, perMinute: number) => (kinds * mailboxes * minuteMs) / perMinute;
  const judged = (routes: readonly Route[]) => judgedRoutes.filter((route) => routes.includes(route)).length;
  return [
    takesMs(judgedRoutes.length, sweepPerMinute),
    ...ownLimits.map(({ routes, perMinute }) => takesMs(judged(routes), perMinute)),
  ];
}

/** The next longer interval that a cron expression can say evenly. */
function evenly(ms: number): number {
  const minutes = evenMinutes.find((step) => step * minuteMs >= ms);
  return minutes === undefined ? Math.ceil(ms / hourMs) * hourMs : minutes * minuteMs;
}

// What a cadence asks of a budget, and by how much it must be stretched to fit. Pure.

const slowRoutes = ['mailbox', 'dns', 'blacklist'] as const;

/** Health and the mailbox list each take at most one request in this many. */
const accountShare = 10;
/** Where the cadence does not fit, the kinds that the guard does not decide on take at most this share of the rest. */
const slowShare = 0.1;

/**
 * Where statistics are read by risk, no mailbox waits longer than this many rounds of all of them: more room for the
 * risky ones would be at the cost of the calm ones, less would be round robin. Where the cadence fits, it is the cap, too.
 */
const patienceFactor = 1.25;

/** Where the cadence fits, a kind that is due catches up at this many times its usual rate; statistics take the rest. */
const catchUp = 2;

interface DemandInput {
  readonly mailboxes: number;
  /** Requests a minute that we may make. */
  readonly allowedPerMinute: number;
  /** Of them, what may be spent beyond what the cadence needs. */
  readonly sparePerMinute: number;
  /** How far apart the runs of each kind are, milliseconds. */
  readonly cadenceMs: Readonly<Record<Route, number>>;
  /** Whether spare requests read statistics early, by risk. */
  readonly early: boolean;
}

export interface Demand {
  /** Requests a minute that the cadence asks for. */
  readonly asksPerMinute: number;
  /** Most requests a minute of ordinary polls. Actions, urgent polls and mailboxes that were never judged may take more. */
  readonly pacePerMinute: number;
  /** Part of pacePerMinute that health and the list leave to the mailboxes. */
  readonly roomPerMinute: number;
  /** Requests a minute for mailboxes that were never judged: all that the budget allows, less health and the list. */
  readonly sweepPerMinute: number;
  /** Requests a minute for connections, DNS and blacklists that were never read, beside what the cadence made due. */
  readonly detailsPerMinute: number;
  readonly fits: boolean;
  /** The cadence would fit, too, if the list took its full share. */
  readonly fitsWithList: boolean;
  /** How far apart two polls of health or the list are at least, milliseconds. */
  readonly accountSpacingMs: number;
  /** How many times as far apart the polls of a mailbox must be, by kind: 1 when the cadence fits. */
  readonly stretch: Readonly<Record<MailboxRoute, number>>;
  /** While all kinds have something to ask: how far apart the polls of a mailbox would be, by kind, milliseconds. */
  readonly turnMs: Readonly<Record<MailboxRoute, number>>;
  /** No mailbox's statistics get older, milliseconds: from then on it goes before every other. */
  readonly statsCapMs: number;
}

/** A run makes all mailboxes due at once: to catch up they get at least this share of the budget beyond what the cadence needs. */
const leastSpareShare = 0.1;

/** Sums up a cadence. Health and the list keep theirs, within their share; the rest is stretched alike, as far as it may be. */
export function demandOf({ mailboxes, allowedPerMinute, sparePerMinute, cadenceMs, early }: DemandInput): Demand {
  const accountSpacingMs = (accountShare * minuteMs) / allowedPerMinute;
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
    detailsPerMinute: Math.max(room / 2, room - all),
    fits,
    fitsWithList: all <= pacePerMinute - (2 / accountShare) * allowedPerMinute,
    accountSpacingMs,
    stretch,
    turnMs,
    statsCapMs: fits ? Math.min(patientMs, cadenceMs.stats) : patientMs,
  };
}
