// Memory of the guard about a mailbox.
import type { RecentLimits } from './policy.ts';
import type { EpochMs, IsoDate } from './time.ts';
import type { Claim, EarlierMode, EvidenceStart, RunState } from './verdict.ts';

/** Emails that were read of some days, and that the API no longer shows: half of them or more. */
export interface LostCounts {
  readonly from: IsoDate;
  readonly to: IsoDate;
  /** Emails that were read on these days before. */
  readonly sent: number;
}

/** Memory of the guard about a mailbox; survives restarts. */
export interface GuardMemory {
  readonly firstSeenAt: EpochMs;
  /** Fresh stats answers judged so far: a first breach waits for the second. */
  readonly answersJudged: number;
  /** Mode and run state that were believed last; a difference is an outside change unless we claimed it. */
  readonly mode: string | null;
  /** The modes before it, the newest first, as far back as statistics reach. Absent until the mode changes. */
  readonly earlierModes?: readonly EarlierMode[];
  readonly run: RunState;
  /** The status word under which the warm-up ran last, null being a word, too. Absent until it runs. */
  readonly runningWord?: string | null;
  /** The day of the first look since which no look led to a judgement on any counts; null, or absent, when the last one did. */
  readonly unjudgedSince?: IsoDate | null;
  readonly evidence: EvidenceStart | null;
  readonly emergencyEvidence: EvidenceStart | null;
  /**
   * Moment at which the mailbox was found in recovery mode with a breach in its last days. null, or absent, otherwise
   * and once the evidence restarted.
   */
  readonly foundBreachAt?: EpochMs | null;
  /** Confirmation times of our interventions. */
  readonly interventions: readonly EpochMs[];
  readonly claim: Claim | null;
  /** The status word that proved a pause: it means paused until the warm-up runs again, whether or not anybody listed it. */
  readonly pauseWord: string | null;
  /** Moments at which others took back our changes. */
  readonly reversals: readonly EpochMs[];
  /** Ids under which this address was guarded before it came back under another one (docs/faults.md S9), the newest first. */
  readonly formerIds?: readonly string[];
  /** Daily limits of the last days. */
  readonly limits?: RecentLimits;
  /** Counts that the API no longer shows. */
  readonly lost?: LostCounts;
}
