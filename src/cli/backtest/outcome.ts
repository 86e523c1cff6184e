// What a backtest found: each mailbox under each guard, the totals, and the same as JSON.

import { type Replay, recoveryMailsPerDay } from '../../core/guard/replay.ts';
import { explainVerdict } from '../../core/wording/explain.ts';
import type { Answers } from '../options.ts';
import type { MailboxHistory } from './fleet-history.ts';

/** One mailbox under every guard, in the order of the outcome's guards. */
export interface BacktestedMailbox {
  readonly mailbox: MailboxHistory;
  /** Empty when the mailbox could not be read. */
  readonly replays: readonly Replay[];
}

export interface Outcome {
  readonly days: number;
  /** Names of the guards: the file that each comes from. */
  readonly guards: readonly string[];
  readonly mailboxes: readonly BacktestedMailbox[];
  /** What is wrong with whole accounts, in sentences. */
  readonly failures: readonly string[];
}

/** The counts of a replay, or of many together. */
export type Totals = Readonly<Record<(typeof totalKeys)[number], number>>;
const totalKeys = [
  'interventions',
  'daysInRecovery',
  'daysPaused',
  'daysHeld',
  'sent',
  'bounced',
  'bouncesAvoided',
  'sendsLost',
] as const;

export const assumptions: readonly string[] = [
  "today's mode was the mode on all days, and the warm-up ran on all of them: the API does not give earlier values",
  'a day is judged when it is over, and an action counts from the next day on; the daemon acts within the day',
  `in recovery at most ${recoveryMailsPerDay} emails a day are sent, and the same share of them bounces; after a pause none until the end, because only a person resumes; after a restore, what was really sent`,
  'every bounce belongs to an email of the same day',
  'enforce is true, only the guard changes anything, and the circuit breaker, which looks at the whole fleet, holds nothing',
];

/** The sums of one guard over the fleet. */
export function totalsOf(outcome: Outcome, guard: number): Totals {
  const replays = outcome.mailboxes.flatMap(({ replays }) => replays[guard] ?? []);
  return Object.fromEntries(
    totalKeys.map((key) => [key, replays.reduce((sum, replay) => sum + replay[key], 0)]),
  ) as Record<(typeof totalKeys)[number], number>;
}

/** For `--json`. */
export function outcomeJson(outcome: Outcome): Answers['backtest'] {
  const { days, guards, mailboxes, failures } = outcome;
  return {
    days,
    assumptions,
    failures,
    mailboxes: mailboxes.map(({ mailbox, replays }) => ({
      account: mailbox.account.name,
      id: mailbox.id,
      email: mailbox.email,
      ...('failure' in mailbox.past ? { failure: mailbox.past.failure } : { mode: mailbox.past.mode }),
      guards: replays.map((replay, index) => ({ guard: guards[index] ?? '', ...replayJson(replay) })),
    })),
    totals: guards.map((guard, index) => ({ guard, ...countsJson(totalsOf(outcome, index)) })),
  };
}

function replayJson(replay: Replay) {
  return {
    from: replay.from,
    to: replay.to,
    ...countsJson(replay),
    actions: replay.actions.map(({ date, kind, verdict }) => ({
      date,
      action: kind,
      reason: verdict.reason,
      sent: verdict.sent,
      bounced: verdict.bounced,
      explanation: explainVerdict(verdict),
    })),
  };
}

function countsJson(totals: Totals) {
  return {
    interventions: totals.interventions,
    days_in_recovery: totals.daysInRecovery,
    days_paused: totals.daysPaused,
    days_held: totals.daysHeld,
    sent: totals.sent,
    bounced: totals.bounced,
    bounces_avoided: totals.bouncesAvoided,
    sends_lost: totals.sendsLost,
  };
}
