// Records of business events. Each is stored completely or not at all.
import type { Action } from '../core/action.ts';
import type { AlertChanges } from '../core/alert.ts';
import type { Route } from '../core/answers.ts';
import type { DecisionDay } from '../core/decision.ts';
import type { BreakerState } from '../core/guard/breaker.ts';
import type { Change, MailboxState } from '../core/mailbox.ts';
import type { EpochMs } from '../core/time.ts';
import type { Verdict } from '../core/verdict.ts';
import type { WritesOff } from '../core/write-scope.ts';

export interface DecisionRecord {
  readonly verdict: Verdict;
  readonly at: EpochMs;
  /** True if the verdict extends the span of the previous verdict. */
  readonly unchanged: boolean;
  readonly judged: number;
  readonly days: readonly DecisionDay[];
}

export type StoredRoute = Exclude<Route, 'health'>;

export interface AnswerRecord {
  readonly mailbox: MailboxState;
  /** True if the row of the mailbox itself must be written: its memory or its address. */
  readonly remembers: boolean;
  readonly answered: readonly StoredRoute[];
  readonly changes: readonly Change[];
  readonly decisions: readonly DecisionRecord[];
  readonly actions: readonly Action[];
  readonly alerts: AlertChanges;
  readonly breaker: BreakerMove | null;
}

export interface BreakerRecord {
  readonly api: string;
  readonly state: BreakerState;
}

/** A breaker that an event changed, and its previous, stored state. */
export interface BreakerMove extends BreakerRecord {
  readonly before: BreakerState;
}

export interface WritesRecord {
  readonly off: readonly WritesOff[];
  readonly on: readonly string[];
  readonly alerts: AlertChanges;
}

/** Mailboxes that another account guards from now on. `ids` is null for all mailboxes of the account. */
export interface AccountMove {
  readonly from: string;
  readonly to: string;
  readonly ids: readonly string[] | null;
}

export interface KnownAccount {
  readonly name: string;
  readonly api: string;
  readonly digest: string;
}

export interface AccountsRecord {
  readonly accounts: readonly KnownAccount[];
  /** Moves that apply at the same time: two accounts may swap their names. */
  readonly moves: readonly AccountMove[];
  readonly alerts: AlertChanges;
}

export interface ListRecord {
  readonly account: string;
  /** Mailboxes that other accounts guarded before, or still have state of. None if absent. */
  readonly moves?: readonly AccountMove[];
  readonly present: readonly MailboxState[];
  readonly absent: readonly MailboxState[];
  readonly left: readonly MailboxState[];
  readonly leftAt: number;
  /** Actions that ended because their mailbox has another id. None if absent. */
  readonly actions?: readonly Action[];
  readonly alerts: AlertChanges;
  readonly breaker: BreakerMove | null;
}
