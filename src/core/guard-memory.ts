// Memory of the guard about a mailbox.
import type { OpenAction } from './action.ts';
import type { RecentLimits } from './policy.ts';
import { dayMs, type EpochMs, type IsoDate } from './time.ts';
import type { Claim, EarlierMode, EvidenceStart, RunState } from './verdict.ts';

/** A POST that may still come: the process that was to send it lost its lease, and may only be frozen. */
export interface UnseenPost {
  /** Action as it was sent. */
  readonly action: OpenAction;
  /** Moment of the next look, which did not show the change. */
  readonly at: EpochMs;
}

/** True if a matching change still counts as the POST's: for a day after that look. */
export function mayStillCome({ at }: Pick<UnseenPost, 'at'>, now: EpochMs): boolean {
  return now - at <= dayMs;
}

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
  /** POSTs that a process which ended left behind, and whose change was not to be seen then. Absent: none. */
  readonly unseenPosts?: readonly UnseenPost[];
}
