// Rows and situations as the guard's tests need them.

import { afterAnswer } from '../../src/account/record/after-answer.ts';
import { newMailbox, type Observation } from '../../src/account/record/observe.ts';
import type { StatsRow, WarmupAnswer } from '../../src/core/answers.ts';
import { closedBreaker } from '../../src/core/guard/breaker.ts';
import type { Situation } from '../../src/core/guard/judge.ts';
import type { StatusWords } from '../../src/core/guard/run-state.ts';
import type { MailboxState } from '../../src/core/mailbox.ts';
import { defaultPolicy } from '../../src/core/policy.ts';
import { addDays, type EpochMs, type IsoDate } from '../../src/core/time.ts';

/** The day of the golden cases, a Thursday. */
export const today: IsoDate = '2025-03-20';
export const now = Date.parse(`${today}T18:00:00Z`);

export function row(date: IsoDate | null, sent: number | null, bounced: number | null): StatsRow {
  const unsaid = { delivered: null, opened: null, replied: null, spamLanded: null, healthScore: null };
  return { date, sent, bounced, ...unsaid, inboxRatePercent: null, bounceRatePercent: null };
}

/** Consecutive days up to `last`, oldest first, each [sent, bounced]. */
export function daysUpTo(last: IsoDate, ...days: readonly (readonly [number, number])[]): StatsRow[] {
  return days.map(([sent, bounced], index) => row(addDays(last, index + 1 - days.length), sent, bounced));
}

/** The same day again and again, as arguments of daysUpTo. */
export function times(count: number, sent: number, bounced = 0): (readonly [number, number])[] {
  return Array.from({ length: count }, () => [sent, bounced] as const);
}

export function situation(change: Partial<Situation> = {}): Situation {
  return {
    mode: 'balanced',
    run: 'running',
    weekdaysOnly: false,
    rows: daysUpTo(today, ...times(7, 40)),
    now,
    statsAt: now,
    evidence: null,
    emergencyEvidence: null,
    unjudgedSince: null,
    foundBreachAt: null,
    recentInterventions: 0,
    firstSight: false,
    claim: null,
    contested: false,
    ...change,
  };
}

export const words: StatusWords = { paused: ['paused'], running: ['active'], notRunning: ['suspended'] };

export function warmupAnswer(
  mode: string | null,
  status: string | null,
  targetDailyLimit: number | null = null,
): WarmupAnswer {
  const unsaid = { dailyLimit: null, warmupDay: null, healthScore: null, recentBounces: [] };
  const config = { targetDailyLimit, replyRate: null, threadRate: null, weekdaysOnly: null };
  return { mode, status, ...unsaid, config: { ...config, sendWindowStart: null, sendWindowEnd: null } };
}

/** A mailbox of which only the list is known. */
export function listedMailbox(at: EpochMs): MailboxState {
  const entry = { id: 'm1', email: 'a@acme.example', provider: null, status: null, healthScore: null };
  return newMailbox('acme', { at, answer: { ...entry, dailyLimit: null, warmupDay: null } });
}

/** Takes an answer in, as account/record/recorder.ts does. verdict: null before anything was judged. */
export function answered(before: MailboxState, observation: Observation, statusWords = words) {
  const now = observation.observed.at;
  const daemon = { policy: defaultPolicy, words: statusWords, hasRead: () => true, mayAct: true, timeZone: 'UTC' };
  const fleet = { breaker: closedBreaker, running: () => 100, actionsOf: () => [], apiAheadMs: 0 };
  const rest = { now, newId: () => 'new', accountHasShrunk: () => false };
  const { mailbox } = afterAnswer(before, observation, { ...daemon, ...fleet, ...rest });
  return { mailbox, verdict: mailbox.verdict?.answer ?? null };
}
