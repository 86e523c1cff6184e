// A decision on a mailbox as history keeps it: the same verdict on consecutive answers is one entry.
import type { EpochMs } from './time.ts';
import type { Verdict } from './verdict.ts';

export interface RecordedDecision {
  /** When the verdict was first given. */
  readonly since: EpochMs;
  /** When it was given last; equal to `since` after one answer. */
  readonly until: EpochMs;
  /** How many answers were judged so. */
  readonly count: number;
  /** The newest of them. */
  readonly verdict: Verdict;
}
