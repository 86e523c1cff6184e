// The guard's settings for one mailbox, resolved. Shares are in parts per million so that comparisons stay in integers.
// What each setting means: docs/configuration.md.

/** The warm-up modes of the mailbox API, from gentle to brisk, and the mode for damaged reputations. */
export const warmupModes = ['slow', 'balanced', 'aggressive', 'recovery'] as const;
export type WarmupMode = (typeof warmupModes)[number];

/** Emails a day that each mode allows at most. Source: the mailbox API's document, warm-up modes. */
export const maxPerDay: Readonly<Record<WarmupMode, number>> = { slow: 20, balanced: 40, aggressive: 80, recovery: 15 };

/** Emails a day: no target daily limit is larger, whatever the mode. */
export const largestLimit = 1_000;

/** Parts per million: 1 % is 10,000. */
export type Ppm = number;
export const onePercentPpm: Ppm = 10_000;

export interface Policy {
  /** false: decide, record and alert the same, but write nothing. */
  readonly enforce: boolean;
  readonly windowDays: number;
  readonly windowMaxDays: number;
  readonly minBounces: number;
  readonly onBreach: 'recovery' | 'pause' | 'alert';
  readonly onRecoveryBreach: 'pause' | 'alert';
  /** A burst of bounces within three days: only an alert, or as a breach. */
  readonly burst: 'alert' | 'act';
  readonly emergency: { readonly minBounces: number; readonly ratePpm: Ppm; readonly days: number };
  readonly maxInterventions: { readonly count: number; readonly days: number };
  /** Back from recovery: so many clean days, and so many times 1/limit clean emails. */
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
  /** Share of the limit from which a mailbox is near it. */
  readonly nearLimitPpm: Ppm;
}

/** The `measured` profile: the defaults. */
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

/** What the `literal` profile changes: the bare reading of the limit, on seven days. */
export const literalProfile = { minBounces: 1, windowMaxDays: 7 } as const;

/** Most days of clean emails that a restore from recovery mode looks at. */
const restoreSpanDays = 30;
/** Most days that the API gives. */
const mostDays = 90;

/** How many days of statistics a mailbox is judged by. `mayRestore`: a switch to recovery of ours still stands. */
export function daysNeeded(policy: Policy, mayRestore: boolean): number {
  const { windowDays, windowMaxDays, emergency, restore } = policy;
  const clean = mayRestore && restore.enabled ? Math.max(restoreSpanDays, restore.days + 1) : 0;
  return Math.min(mostDays, Math.max(windowDays, windowMaxDays, emergency.days, clean));
}

export function isWarmupMode(word: string | null): word is WarmupMode {
  return warmupModes.some((mode) => mode === word);
}
