// What is known of an account's rate limit, for the process that guards the account next.
import type { EpochMs } from './time.ts';

/** Of the key, on the wall clock. */
export interface BudgetLedger {
  /** Requests a minute, as configured or as the API said, whichever is smaller. */
  readonly limit: number;
  /** Starts of the last 60 s, oldest first. */
  readonly starts: readonly EpochMs[];
  /** Nothing starts before. */
  readonly stoppedUntil: EpochMs;
  /** When something else was last seen to use the key; null: not lately. Absent in what an earlier version stored. */
  readonly sharedAt?: EpochMs | null;
  /** When the API said 429 in the last hour, oldest first, and the share of the budget that it leaves since. Absent as above. */
  readonly restraint?: { readonly throttledAt: readonly EpochMs[]; readonly share: number };
}

export interface AccountLedger {
  readonly account: string;
  readonly budget: BudgetLedger;
}
