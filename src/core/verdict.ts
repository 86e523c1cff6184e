// The guard's decisions, reasons, and parts of its memory.
import type { Ppm, WarmupMode } from './policy.ts';
import type { EpochMs, IsoDate } from './time.ts';

/** `hold`: nothing is done on purpose, although a value is over its limit or unknown. */
export const verdictActions = ['none', 'hold', 'recovery', 'pause', 'restore'] as const;
export type VerdictAction = (typeof verdictActions)[number];

/** The same words in tests, metrics, alerts and on the page. */
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

/** Reasons without anything to judge: the warm-up does not run, or there is none. */
const idleReasons: readonly Reason[] = ['already_paused', 'not_running', 'no_warmup'];

export function isIdle(reason: Reason): boolean {
  return idleReasons.includes(reason);
}

/** Reasons that prevent a judgement: the mailbox is `not_judged`, and guard_blind fires. */
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

const countReasons: readonly Reason[] = ['contradicting_counts', 'missing_counts'];

export function lacksCounts(reason: Reason): boolean {
  return countReasons.includes(reason);
}

export function isBlind(reason: Reason): boolean {
  return blindReasons.includes(reason);
}

export type Doubt =
  | {
      readonly by: 'second_row' | 'bounce_rate' | 'delivered';
      readonly sent: number;
      readonly bounced: number;
      readonly from: IsoDate;
      readonly to: IsoDate;
    }
  /** Earlier counts of these days. */
  | { readonly by: 'earlier_answer'; readonly sent: number; readonly from: IsoDate; readonly to: IsoDate };

export type RunState = 'running' | 'paused' | 'not_running' | 'unknown';

export interface Verdict {
  readonly action: VerdictAction;
  readonly reason: Reason;
  /** Action without holds (first sight, on_breach: alert). */
  readonly wanted: VerdictAction;
  readonly mode: string | null;
  readonly run: RunState;
  readonly sent: number;
  readonly bounced: number;
  /** Limit of the mode, or null if the mode is unknown. */
  readonly limitPpm: Ppm | null;
  readonly windowFrom: IsoDate | null;
  readonly windowTo: IsoDate | null;
  readonly windowDays: number;
  readonly emergency: { readonly sent: number; readonly bounced: number; readonly from: IsoDate } | null;
  readonly burst: {
    readonly sent: number;
    readonly bounced: number;
    readonly from: IsoDate;
    readonly days: number;
  } | null;
  /** Number of further bounces until a breach, 0 during one, or null if unknown. */
  readonly bouncesUntilBreach: number | null;
  /** Time until which one more bounce is a breach: the mailbox was found in recovery mode with these counts. */
  readonly foundUntil?: EpochMs | null;
  readonly doubt?: Doubt | null;
  /** Set in a recovery of ours. */
  readonly restore: RestoreProgress | null;
  readonly dataAgeMs: number;
  readonly warnings: readonly string[];
}

/** Clean days and emails since the later of the switch and the last bounce, and the number for a restore. */
export interface RestoreProgress {
  readonly mode: WarmupMode;
  readonly cleanDays: number;
  readonly neededDays: number;
  readonly cleanMails: number;
  readonly neededMails: number;
}

export interface EvidenceStart {
  readonly from: IsoDate;
  /** Counts of emails that left on `from` before the evidence began. */
  readonly before: { readonly sent: number; readonly bounced: number } | null;
  /** Marks a start that others moved: they move it once within the window's days. */
  readonly byOthers?: true;
}

export interface Claim {
  readonly kind: 'recovery' | 'pause';
  readonly actionId: string;
  readonly since: EpochMs;
  readonly previousMode: string | null;
  /** Recovery under a pause. It is ours again after a person ends the pause through Warmwarden. */
  readonly under: Claim | null;
}

/** The day of the change belongs to this mode. */
export interface EarlierMode {
  readonly mode: WarmupMode;
  readonly until: IsoDate;
}
