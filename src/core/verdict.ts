// The guard's decisions, reasons, and parts of its memory.
import type { Counts, Ppm, WarmupMode } from './policy.ts';
import type { EpochMs, IsoDate } from './time.ts';

/** `hold`: nothing is done on purpose, although a value is over its limit or unknown. */
export const verdictActions = ['none', 'hold', 'recovery', 'pause', 'restore'] as const;
export type VerdictAction = (typeof verdictActions)[number];

/**
 * What a reason says of the judgement. judged: there is one. idle: there is nothing to judge. blind: nothing can be
 * judged, so the mailbox is `not_judged`, and guard_blind fires. no_counts: blind, because counts lack or contradict.
 * left_alone: the mailbox is `not_judged`, and the alert of this name fires.
 */
const reasonKinds = {
  ok: 'judged',
  insufficient_evidence: 'judged',
  already_paused: 'idle',
  not_running: 'idle',
  no_warmup: 'idle',
  no_data: 'judged',
  bad_payload: 'blind',
  stale_data: 'left_alone',
  emergency: 'judged',
  unknown_mode: 'blind',
  unknown_status: 'blind',
  invalid_row: 'blind',
  implausible_counts: 'blind',
  contradicting_counts: 'no_counts',
  missing_counts: 'no_counts',
  no_evidence: 'blind',
  word_against_counts: 'blind',
  bounce_rate_over_limit: 'judged',
  repeat_offender: 'judged',
  first_sight: 'judged',
  circuit_breaker: 'judged',
  contested: 'left_alone',
  clean_volume: 'judged',
} as const;

/** The same words in tests, metrics, alerts and on the page. */
export type Reason = keyof typeof reasonKinds;
export const reasons = Object.keys(reasonKinds) as [Reason, ...Reason[]];

/** True if the verdict is a judgement of the bounces. */
export function isJudged(reason: Reason): boolean {
  return reasonKinds[reason] === 'judged';
}

export function isIdle(reason: Reason): boolean {
  return reasonKinds[reason] === 'idle';
}

export function lacksCounts(reason: Reason): boolean {
  return reasonKinds[reason] === 'no_counts';
}

export function isBlind(reason: Reason): boolean {
  return reasonKinds[reason] === 'blind' || lacksCounts(reason);
}

export type Doubt =
  | (Counts & {
      readonly by: 'second_row' | 'bounce_rate' | 'delivered';
      readonly from: IsoDate;
      readonly to: IsoDate;
    })
  /** Earlier counts of these days. */
  | { readonly by: 'earlier_answer'; readonly sent: number; readonly from: IsoDate; readonly to: IsoDate };

export type RunState = 'running' | 'paused' | 'not_running' | 'unknown';

export interface Verdict extends Counts {
  readonly action: VerdictAction;
  readonly reason: Reason;
  /** Action without holds (first sight, on_breach: alert). */
  readonly wanted: VerdictAction;
  readonly mode: string | null;
  readonly run: RunState;
  readonly limitPpm: Ppm | null;
  readonly windowFrom: IsoDate | null;
  readonly windowTo: IsoDate | null;
  readonly windowDays: number;
  /** `again`: counting started again during that day, such as at a resume. */
  readonly emergency: (Counts & { readonly from: IsoDate; readonly again?: true }) | null;
  readonly burst: (Counts & { readonly from: IsoDate; readonly days: number }) | null;
  /** Number of further bounces until a breach, 0 during one, or null if unknown. */
  readonly bouncesUntilBreach: number | null;
  /** Time until which one more bounce is a breach: the mailbox was found in recovery mode with these counts. */
  readonly foundUntil?: EpochMs | null;
  readonly doubt?: Doubt | null;
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
  readonly before: Counts | null;
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
