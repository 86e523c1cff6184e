// A decision on a mailbox as history keeps it: consecutive answers that led to the same decision are one entry, a span.
import type { StatsRow } from './answers.ts';
import type { MailboxState } from './mailbox.ts';
import { isOver } from './policy.ts';
import type { EpochMs, IsoDate } from './time.ts';
import type { Verdict } from './verdict.ts';

export type DecisionDay = readonly [date: IsoDate, sent: number | null, bounced: number | null];

export interface RecordedDecision {
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

/** The newest decision with its latest counts: the history gets a span's newest counts some minutes later. */
export function goingOn(
  newest: RecordedDecision,
  { verdict, stats }: Pick<MailboxState, 'verdict' | 'stats'>,
): RecordedDecision {
  if (!verdict || verdict.at < newest.until || !isSameSpan(newest.verdict, verdict.answer)) return newest;
  const days = daysOf(verdict.answer, stats?.answer.rows ?? []);
  return { ...newest, until: verdict.at, verdict: verdict.answer, days };
}

export interface HeldSpan {
  readonly account: string;
  readonly id: string;
  readonly since: EpochMs;
  readonly until: EpochMs;
}

/** True if two verdicts belong to one span. Further emails don't end it: a calm mailbox has one span a day. */
export function isSameSpan(one: Verdict, other: Verdict): boolean {
  return (
    sameInSpan.every((field) => one[field] === other[field]) &&
    isOver(one, one.limitPpm) === isOver(other, other.limitPpm)
  );
}

const sameInSpan = ['action', 'reason', 'wanted', 'mode', 'run', 'bounced', 'limitPpm', 'windowTo'] as const;
