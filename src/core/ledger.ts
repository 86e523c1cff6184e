// State of an account's rate limit that the next process needs.
import type { EpochMs } from './time.ts';

/** Budget of a key, by the wall clock. */
export interface BudgetLedger {
  /** Requests a minute, as configured or as the API said, whichever is smaller. */
  readonly limit: number;
  /** Starts of the last 60 s, oldest first. */
  readonly starts: readonly EpochMs[];
  /** Moment before which no request starts. */
  readonly stoppedUntil: EpochMs;
  /** Moment of the latest sign of another user of the key, or null if there was none lately. */
  readonly sharedAt?: EpochMs | null;
  /** Moments of the 429s of the last hour, oldest first, and the share of the budget since then. */
  readonly restraint?: { readonly throttledAt: readonly EpochMs[]; readonly share: number };
}

export interface AccountLedger {
  readonly account: string;
  readonly budget: BudgetLedger;
}
