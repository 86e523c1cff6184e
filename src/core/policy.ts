// The guard's settings for one mailbox (docs/configuration.md). Shares in ppm keep comparisons in integers.
import { dayMs } from './time.ts';

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

/** Days that are read in any case: the rule of an account compares the last 2 with the 28 before. */
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
