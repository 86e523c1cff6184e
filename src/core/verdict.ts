// The guard's words: what it decides and why, and the parts of what it remembers.
import type { Ppm, WarmupMode } from './policy.ts';
import type { EpochMs, IsoDate } from './time.ts';

/**
 * Actions that a verdict may want. `hold`: nothing is done on purpose, although a value is over its limit or unknown.
 */
export const verdictActions = ['none', 'hold', 'recovery', 'pause', 'restore'] as const;
export type VerdictAction = (typeof verdictActions)[number];

/** Why, out of one closed set: the same word in tests, metrics, alerts and on the page. */
export const reasons = [
  'ok',
  'insufficient_evidence',
  'already_paused',
  'not_running',
  'no_warmup',
  'no_data',
  'bad_payload',
  'stale_data',
  'emergency',
  'unknown_mode',
  'unknown_status',
  'invalid_row',
  'implausible_counts',
  'contradicting_counts',
  'missing_counts',
  'no_evidence',
  'word_against_counts',
  'bounce_rate_over_limit',
  'repeat_offender',
  'first_sight',
  'circuit_breaker',
  'contested',
  'clean_volume',
] as const;
export type Reason = (typeof reasons)[number];

/** Reasons that say that there is nothing to judge: the warm-up does not run, or there is none. */
const idleReasons: readonly Reason[] = ['already_paused', 'not_running', 'no_warmup'];

export function isIdle(reason: Reason): boolean {
  return idleReasons.includes(reason);
}

/** Reasons that say that the bounces cannot be judged: the mailbox is `not_judged`, and guard_blind tells of it. */
const blindReasons: readonly Reason[] = [
  'bad_payload',
  'unknown_mode',
  'unknown_status',
  'invalid_row',
  'implausible_counts',
  'contradicting_counts',
  'missing_counts',
  'no_evidence',
  'word_against_counts',
];

/** Reasons about counts that are missing, or contradict each other. */
const countReasons: readonly Reason[] = ['contradicting_counts', 'missing_counts'];

export function lacksCounts(reason: Reason): boolean {
  return countReasons.includes(reason);
}

export function isBlind(reason: Reason): boolean {
  return blindReasons.includes(reason);
}

/** Counts that contradict those that a verdict rests on. */
export type Doubt =
  | {
      /** Counts that the rows give elsewhere for the same days. */
      readonly by: 'second_row' | 'bounce_rate' | 'delivered';
      readonly sent: number;
      readonly bounced: number;
      readonly from: IsoDate;
      readonly to: IsoDate;
    }
  /** Counts that were read of these days before. */
  | { readonly by: 'earlier_answer'; readonly sent: number; readonly from: IsoDate; readonly to: IsoDate };

/** State of the warm-up, as far as the status word and the counts tell. */
export type RunState = 'running' | 'paused' | 'not_running' | 'unknown';

export interface Verdict {
  readonly action: VerdictAction;
  readonly reason: Reason;
  /** Action without holds (first sight, on_breach: alert); otherwise equal to `action`. */
  readonly wanted: VerdictAction;
  readonly mode: string | null;
  readonly run: RunState;
  readonly sent: number;
  readonly bounced: number;
  /** Limit of the mode, or null in an unknown mode. */
  readonly limitPpm: Ppm | null;
  readonly windowFrom: IsoDate | null;
  readonly windowTo: IsoDate | null;
  readonly windowDays: number;
  /** The counts that the emergency rule compared, when it fired. */
  readonly emergency: { readonly sent: number; readonly bounced: number; readonly from: IsoDate } | null;
  /** The newest days, when they are a burst: at least three bounces more than the limit allows. */
  readonly burst: {
    readonly sent: number;
    readonly bounced: number;
    readonly from: IsoDate;
    readonly days: number;
  } | null;
  /** Number of further bounces until a breach, 0 during one, or null if unknown. */
  readonly bouncesUntilBreach: number | null;
  /**
   * The mailbox was found in recovery mode with these counts of its last days, which are from before its evidence began:
   * until this moment one more bounce is a breach. Absent, or null, everywhere else.
   */
  readonly foundUntil?: EpochMs | null;
  /** Counts of another source that contradict the verdict's. Absent, or null: nothing contradicts them. */
  readonly doubt?: Doubt | null;
  /** Progress of the way back in a recovery of ours, or null otherwise. */
  readonly restore: RestoreProgress | null;
  readonly dataAgeMs: number;
  readonly warnings: readonly string[];
}

/** Clean days and emails since the switch to recovery and since the last bounce, and how many a restore takes. */
export interface RestoreProgress {
  readonly mode: WarmupMode;
  readonly cleanDays: number;
  readonly neededDays: number;
  readonly cleanMails: number;
  readonly neededMails: number;
}

/** First day of the evidence, and the counts that the day already had. */
export interface EvidenceStart {
  readonly from: IsoDate;
  /** Subtracted from the row of `from`: emails that left before the evidence began. */
  readonly before: { readonly sent: number; readonly bounced: number } | null;
  /** A change of others moved it here: they move it once within the window's days. */
  readonly byOthers?: true;
}

export interface Claim {
  readonly kind: 'recovery' | 'pause';
  readonly actionId: string;
  readonly since: EpochMs;
  readonly previousMode: string | null;
  /** The recovery that a pause was put on top of: ours again when a person takes the pause back through Warmwarden. */
  readonly under: Claim | null;
}

/** A mode that a mailbox had, up to and including the day on which it changed. */
export interface EarlierMode {
  readonly mode: WarmupMode;
  readonly until: IsoDate;
}
