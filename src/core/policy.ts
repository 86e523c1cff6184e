// The guard's settings for one mailbox (docs/configuration.md). Shares in ppm keep comparisons in integers.
import type { MailboxEntry, Observed, WarmupAnswer } from './answers.ts';
import { addDays, dayMs, type EpochMs, type IsoDate, utcDate } from './time.ts';

/** The warm-up modes of the API, from gentle to brisk, and the mode for damaged reputations. */
export const warmupModes = ['slow', 'balanced', 'aggressive', 'recovery'] as const;
export type WarmupMode = (typeof warmupModes)[number];

/** Emails a day, by the API's document, warm-up modes. */
export const maxPerDay: Readonly<Record<WarmupMode, number>> = { slow: 20, balanced: 40, aggressive: 80, recovery: 15 };

/** Time within which a mode that Warmwarden set changes the daily limit. A later change is by others. */
export const modeEffectMs = dayMs;

/** Limits of the API's plans, requests a minute, by its document. */
export const planLimits = { pro: 100, enterprise: 500 } as const;
type PlanName = keyof typeof planLimits;
export const planNames = Object.keys(planLimits) as [PlanName, ...PlanName[]];

/** Largest target daily limit of any mode, emails a day. */
export const largestLimit = 1_000;

/** Parts per million: 1% is 10,000. */
export type Ppm = number;
export const onePercentPpm: Ppm = 10_000;

export interface Policy {
  /** False to decide, record and alert without writes. */
  readonly enforce: boolean;
  readonly windowDays: number;
  readonly windowMaxDays: number;
  readonly minBounces: number;
  readonly onBreach: 'recovery' | 'pause' | 'alert';
  readonly onRecoveryBreach: 'pause' | 'alert';
  readonly burst: 'alert' | 'act';
  readonly emergency: { readonly minBounces: number; readonly ratePpm: Ppm; readonly days: number };
  readonly maxInterventions: { readonly count: number; readonly days: number };
  /** Clean days, and clean emails in multiples of 1/limit, before a restore. */
  readonly restore: { readonly enabled: boolean; readonly days: number; readonly cleanVolume: number };
  readonly staleAfterDays: number;
  readonly breaker: {
    readonly sharePpm: Ppm;
    readonly minMailboxes: number;
    readonly maxMailboxes: number;
    readonly minDomains: number;
    readonly windowMs: number;
  };
  readonly limitsPpm: Readonly<Record<WarmupMode, Ppm>>;
  readonly nearLimitPpm: Ppm;
}

export const defaultPolicy: Policy = {
  enforce: true,
  windowDays: 7,
  windowMaxDays: 30,
  minBounces: 2,
  onBreach: 'recovery',
  onRecoveryBreach: 'pause',
  burst: 'alert',
  emergency: { minBounces: 3, ratePpm: 100_000, days: 2 },
  maxInterventions: { count: 3, days: 60 },
  restore: { enabled: true, days: 7, cleanVolume: 1 },
  staleAfterDays: 2,
  breaker: { sharePpm: 100_000, minMailboxes: 5, maxMailboxes: 25, minDomains: 3, windowMs: 60 * 60_000 },
  limitsPpm: { slow: 5_000, balanced: 10_000, aggressive: 20_000, recovery: 3_000 },
  nearLimitPpm: 800_000,
};

/** A mailbox with at most this many judged answers is a newcomer. A breaker that trips on those waits for a person. */
export const newcomerAnswers = 2;

export const literalProfile = { minBounces: 1, windowMaxDays: 7 } as const;

/** Days that are read in any case: a restore looks at as many, and what mailboxes share at 14 of them. */
const leastStatsDays = 30;
/** The API returns at most 90 days of statistics. */
export const maxStatsDays = 90;

/** Days of statistics for a judgement. */
export function daysNeeded({ windowDays, windowMaxDays, emergency, restore }: Policy): number {
  return Math.min(maxStatsDays, Math.max(leastStatsDays, windowDays, windowMaxDays, emergency.days, restore.days + 1));
}

export function isWarmupMode(word: string | null): word is WarmupMode {
  return warmupModes.some((mode) => mode === word);
}

// The bounce rate by pooled counts, never percentages (docs/guard.md, "The rule").

export interface Counts {
  readonly sent: number;
  readonly bounced: number;
}

export function ratePpm(counts: Counts): Ppm | null {
  return counts.sent > 0 ? (counts.bounced * 1e6) / counts.sent : null;
}

export function isOver({ sent, bounced }: Counts, limit: Ppm | null): boolean {
  return limit !== null && bounced * 1e6 > limit * sent;
}

/** Returns 1.5385 for 15,385 ppm. */
export function percent(ppm: Ppm): number {
  return ppm / onePercentPpm;
}

// Highest daily limits of a mailbox on its last days.

interface DayLimits {
  readonly daily: number | null;
  readonly mode: number | null;
}

/** Highest limits by UTC day, the newest last. A limit that fell at noon allowed more before. */
export type RecentLimits = readonly (DayLimits & { readonly day: IsoDate })[];

/** Today, yesterday, and the day before that yesterday is compared with. */
const daysKept = 3;
const unbounded = Number.MAX_SAFE_INTEGER;

interface LimitLooks {
  readonly entry: Observed<MailboxEntry>;
  readonly warmup: Observed<WarmupAnswer> | null;
}

/** Adds the present limits. An unreadable limit changes nothing. */
export function limitsAfter(before: RecentLimits, { entry, warmup }: LimitLooks, now: EpochMs): RecentLimits {
  const day = utcDate(now);
  const seen = {
    daily: higher(entry.answer.dailyLimit, warmup?.answer.dailyLimit ?? null),
    mode: maximumOf(warmup?.answer.mode ?? null),
  };
  const last = before.at(-1);
  if (last?.day !== day) return [...before, { day, ...seen }].slice(-daysKept);
  const [daily, mode] = [higher(last.daily, seen.daily), higher(last.mode, seen.mode)];
  return daily === last.daily && mode === last.mode ? before : before.with(-1, { day, daily, mode });
}

/**
 * Highest limits on a date of the API, or null if the mailbox was not watched since the day before. The API's time zone
 * is unknown: a date may begin half a day before or after the UTC day.
 */
export function limitsOn(limits: RecentLimits, date: IsoDate): DayLimits | null {
  const newest = limits.at(-1)?.day ?? '';
  const days = [addDays(date, -1), date, addDays(date, 1)].filter((day) => day <= newest);
  const known = days.flatMap((day) => limits.find((one) => one.day === day) ?? []);
  if (days.length === 0 || known.length < days.length) return null;
  return { daily: highest(known.map(({ daily }) => daily)), mode: highest(known.map(({ mode }) => mode)) };
}

function maximumOf(mode: string | null): number | null {
  if (mode === null) return null;
  return isWarmupMode(mode) ? maxPerDay[mode] : unbounded;
}

/** Returns null if a limit is unknown or has no bound. */
function highest(limits: readonly (number | null)[]): number | null {
  return limits.reduce<number | null>(
    (most, limit) => (most === null || limit === null || limit === unbounded ? null : Math.max(most, limit)),
    0,
  );
}

function higher(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.max(a, b);
}
