// What a business event hands to the store: everything that must be true together, or not at all.
import type { Action } from '../core/action.ts';
import type { AlertChanges } from '../core/alert.ts';
import type { Route } from '../core/answers.ts';
import type { BreakerState } from '../core/breaker.ts';
import type { Change } from '../core/change.ts';
import type { DecisionDay } from '../core/decision.ts';
import type { MailboxState } from '../core/mailbox.ts';
import type { EpochMs } from '../core/time.ts';
import type { Verdict } from '../core/verdict.ts';
import type { WritesOff } from '../core/write-scope.ts';

/** A verdict to be recorded. */
export interface DecisionRecord {
  readonly verdict: Verdict;
  readonly at: EpochMs;
  /** It belongs to the span of the verdict before, which gets longer. */
  readonly unchanged: boolean;
  /** Answers that were judged so since the row was written, this one included. */
  readonly judged: number;
  readonly days: readonly DecisionDay[];
}

/** A kind of answer whose newest one is a row of each mailbox. */
export type StoredRoute = Exclude<Route, 'health'>;

/** Answers about one mailbox and all that follows from them. */
export interface TickRecord {
  readonly mailbox: MailboxState;
  /** The row of the mailbox itself is to be written: its memory, its address. */
  readonly remembers: boolean;
  /** Routes whose answers are new. */
  readonly answered: readonly StoredRoute[];
  /** What others changed since the look before. */
  readonly changes: readonly Change[];
  /** Verdicts in their order. */
  readonly decisions: readonly DecisionRecord[];
  /** Actions that were planned or settled by it. */
  readonly actions: readonly Action[];
  readonly alerts: AlertChanges;
  /** The breaker of the mailbox's API, when the answer moved it. */
  readonly breaker: BreakerMove | null;
}

export interface BreakerRecord {
  /** The base_url that it guards. */
  readonly api: string;
  readonly state: BreakerState;
}

/** A breaker that an event moved, and the state before, which is stored. */
export interface BreakerMove extends BreakerRecord {
  readonly before: BreakerState;
}

/** The emergency stop was switched, or a part of it has expired. */
export interface WritesRecord {
  readonly off: readonly WritesOff[];
  /** Keys of scopes. */
  readonly on: readonly string[];
  readonly alerts: AlertChanges;
}

/** Mailboxes that are guarded under another account from now on; null: all of the account. */
export interface AccountMove {
  readonly from: string;
  readonly to: string;
  readonly ids: readonly string[] | null;
}

/** An account as it was configured last. */
export interface KnownAccount {
  readonly name: string;
  /** The base_url. */
  readonly api: string;
  /** The digest of base_url and key. */
  readonly digest: string;
}

/** Accounts and their mailboxes under other names than before. */
export interface AccountsRecord {
  /** All that are configured now. */
  readonly accounts: readonly KnownAccount[];
  /** Made at once: two accounts may swap their names. */
  readonly moves: readonly AccountMove[];
  readonly alerts: AlertChanges;
}

/** What changed by a mailbox list. */
export interface ListRecord {
  readonly account: string;
  /** Mailboxes that other accounts guarded before, or remember. Absent: none. */
  readonly moves?: readonly AccountMove[];
  /** New ones, and those whose entry is to be remembered. */
  readonly present: readonly MailboxState[];
  readonly absent: readonly MailboxState[];
  readonly left: readonly MailboxState[];
  readonly leftAt: number;
  readonly alerts: AlertChanges;
  /** The breaker, when those who left were held by it. */
  readonly breaker: BreakerMove | null;
}
