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
  /** It belongs to the span of the verdict before, which gets longer. */
  readonly unchanged: boolean;
  /** Answers that were judged so since the row was written, this one included. */
  readonly judged: number;
  readonly days: readonly DecisionDay[];
  /** The span before, as it ended, where its row does not say so yet. */
  readonly ended?: EndedSpan;
}

/** What the row of a span does not have yet: its last verdict, and how many answers were judged so since it was written. */
export interface EndedSpan {
  readonly at: EpochMs;
  readonly verdict: Verdict;
  readonly judged: number;
  readonly days: readonly DecisionDay[];
}

/** One answer about one mailbox and all that follows from it. */
export interface TickRecord {
  readonly mailbox: MailboxState;
  /** The mailbox's memory is another one than the store has. */
  readonly remembers: boolean;
  /** The route whose answer is new; null when nothing was observed. */
  readonly answered: Exclude<Route, 'health' | 'mailboxes'> | null;
  /** What others changed since the look before. */
  readonly changes: readonly Change[];
  readonly decision: DecisionRecord | null;
  /** Actions that were planned or settled by it. */
  readonly actions: readonly Action[];
  readonly alerts: AlertChanges;
  /** The breaker of the mailbox's API, when the answer moved it. */
  readonly breaker: BreakerMove | null;
}

/** Answers about one mailbox that moved nothing: they may be committed later, with others. */
export interface CalmRecord {
  /** With the newest of them. */
  readonly mailbox: MailboxState;
  /** The routes whose answers are new; mailboxes: its entry in the list. */
  readonly answered: readonly Exclude<Route, 'health'>[];
  /** The newest, with the judgements of all. It prolongs the span that is there. */
  readonly decision: DecisionRecord | null;
}

/** The records that could not be written, each with its error. */
export type BadRecords = ReadonlyMap<CalmRecord, unknown>;

/** Calm records that wait for a commit. */
export interface WaitingRecords {
  /** Those of some accounts; of all when they are null. */
  of(accounts: readonly string[] | null): readonly CalmRecord[];
  /** These wait no longer: they were committed, but for the bad ones. Resolves when they are shown. Never rejects. */
  settled(records: readonly CalmRecord[], bad: BadRecords): Promise<void>;
}

export interface BreakerRecord {
  /** The base_url that it guards. */
  readonly api: string;
  readonly state: BreakerState;
}

/** A breaker that an event moved. Events are decided and recorded one after the other, so `before` is the stored state. */
export interface BreakerMove extends BreakerRecord {
  readonly before: BreakerState;
}

/** Other accounts are guarded than before. */
export interface WithdrawalRecord {
  /** null when only the alert moved. */
  readonly breaker: BreakerMove | null;
  readonly alerts: AlertChanges;
}

/** A person ended a hold. */
export interface ReleaseRecord {
  /** The mailbox whose memory changed by it. */
  readonly mailbox: MailboxState | null;
  readonly breaker: BreakerMove | null;
  readonly alerts: AlertChanges;
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
