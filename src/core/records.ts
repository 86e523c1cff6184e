// Records that other rooms exchange with the store.
import type { Action, GuardActionKind, Outcome } from './action.ts';
import type { Alert, Announcement, Transition } from './alert.ts';
import type { StatsRow } from './answers.ts';
import type { Delivery, NewDelivery } from './delivery.ts';
import type { Incident, MessageIncident } from './incident.ts';
import type { Change, MailboxState, RequestCount } from './mailbox.ts';
import { isOver } from './policy.ts';
import type { EpochMs, IsoDate } from './time.ts';
import type { Reason, Verdict, VerdictAction } from './verdict.ts';

export interface NotificationLog {
  readonly announcements: readonly Announcement[];
  readonly muted: readonly MutedNews[];
  readonly groups: readonly { readonly group: string; readonly at: EpochMs }[];
}

export interface NotificationLogChanges {
  readonly announced: readonly Announcement[];
  /** Fingerprints of ended alerts. None is also in `announced`: both are written in any order, and in pieces. */
  readonly ended: readonly string[];
  readonly groups: readonly string[];
}

export interface MutedPlace {
  readonly channel: string;
  /** Fingerprint of the alert, or id of the incident. */
  readonly about: string;
}

/** News that a channel gets when its mute time ends: the latest step of an alert, or of an incident. */
export interface MutedNews extends MutedPlace {
  /** True if the channel was notified of an earlier step. */
  readonly isKnown: boolean;
  readonly since: EpochMs;
  /** Every channel that the news went to. */
  readonly to: readonly string[];
  /** Latest step of the alert, or every step of an event. */
  readonly transitions: readonly Transition[];
  readonly incident: MessageIncident | null;
  /** The incident's mailboxes as alerts. The routes of all alerts here decide when the mute time ends. */
  readonly members: readonly Alert[];
}

export interface MutedNewsChanges {
  readonly kept: readonly MutedNews[];
  readonly dropped: readonly MutedPlace[];
}

export interface DeliveryRecord {
  /** Transitions that are settled now, even without a channel. */
  readonly transitionIds: readonly number[];
  readonly deliveries: readonly NewDelivery[];
  readonly notificationLog?: NotificationLogChanges;
  readonly incidents?: readonly Incident[];
  readonly muted?: MutedNewsChanges;
  readonly now: EpochMs;
}

export interface OutboxCount {
  readonly channel: string;
  readonly pending: number;
  readonly oldestPendingAt: EpochMs | null;
  readonly undelivered: number;
}

export interface DigestFacts {
  readonly actions: readonly Action[];
  readonly undelivered: readonly Delivery[];
}

/** Budget of a key, in wall-clock time. */
export interface BudgetLedger {
  readonly at: EpochMs;
  /** Requests a minute: the smaller of the configured and the API's limit. */
  readonly limit: number;
  readonly starts: readonly EpochMs[];
  readonly restraint: Restraint;
}

export interface Restraint {
  readonly keyUntil: EpochMs;
  readonly kindsUntil: Readonly<Record<string, EpochMs>>;
  /** Waits after 429s of the last hour, oldest first. */
  readonly stops: readonly { readonly at: EpochMs; readonly until: EpochMs }[];
  /** Share of the limit in use: 429s reduce it. */
  readonly share: number;
  /** Time from which requests may start in batches again: a day after the last 429 or 503. */
  readonly batchesFrom: EpochMs;
}

export interface AccountLedger {
  readonly account: string;
  readonly budget: BudgetLedger;
}

export interface HistoryQuery<Id> {
  readonly since: EpochMs;
  /** Returns only entries that are older than this place, or all if null or absent. */
  readonly before?: { readonly at: EpochMs; readonly id: Id } | null;
  readonly mailbox: { readonly account: string; readonly ids: readonly string[] } | null;
  readonly by?: string | null;
  readonly limit: number;
}

export interface MailboxEntries {
  readonly decisions: readonly DecisionSpan[];
  readonly actions: readonly Action[];
  readonly changes: readonly Change[];
}

// Counters, which metrics/ implements.

export interface Tally {
  decision(account: string, action: VerdictAction, reason: Reason): void;
  action(account: string, kind: GuardActionKind, outcome: Outcome): void;
  request(count: RequestCount, seconds: number): void;
  notification(channel: string, outcome: 'sent' | 'failed' | 'undelivered'): void;
}

/** Counts nothing, for commands. */
export const noTally: Tally = { decision() {}, action() {}, request() {}, notification() {} };

// Decisions as history keeps them: consecutive answers that led to the same decision are one entry, a span.

export type DecisionDay = readonly [date: IsoDate, sent: number | null, bounced: number | null];

export interface DecisionSpan {
  readonly since: EpochMs;
  readonly until: EpochMs;
  readonly count: number;
  readonly firstSent: number;
  /** The days as they were at `since`. */
  readonly firstDays: readonly DecisionDay[];
  readonly verdict: Verdict;
  readonly days: readonly DecisionDay[];
}

export function daysOf({ windowFrom, windowTo }: Verdict, rows: readonly StatsRow[]): readonly DecisionDay[] {
  if (windowFrom === null || windowTo === null) return [];
  return rows.flatMap(({ date, sent, bounced }) =>
    date !== null && date >= windowFrom && date <= windowTo ? [[date, sent, bounced] as const] : [],
  );
}

/** The newest decision with its latest counts: the history gets those of an unchanged one once an hour. */
export function withLatestCounts(
  newest: DecisionSpan,
  { verdict, stats }: Pick<MailboxState, 'verdict' | 'stats'>,
): DecisionSpan {
  if (!verdict || verdict.at < newest.until || !isSameSpan(newest.verdict, verdict.answer)) return newest;
  const days = daysOf(verdict.answer, stats?.answer.rows ?? []);
  return { ...newest, until: verdict.at, verdict: verdict.answer, days };
}

/** True if two verdicts belong to one span. Further emails don't end it: a calm mailbox has one span a day. */
export function isSameSpan(one: Verdict, other: Verdict): boolean {
  return (
    sameInSpan.every((field) => one[field] === other[field]) &&
    isOver(one, one.limitPpm) === isOver(other, other.limitPpm)
  );
}

const sameInSpan = ['action', 'reason', 'wanted', 'mode', 'run', 'bounced', 'limitPpm', 'windowTo'] as const;
