// The guard over a mailbox's past, day by day: what it would have done, and what that would have spared and cost. Pure.
import { type GuardActionKind, isGuardActionKind } from '../action.ts';
import type { StatsRow } from '../answers.ts';
import type { Policy } from '../policy.ts';
import { addDays, dayMs, type EpochMs, type IsoDate } from '../time.ts';
import type { Verdict } from '../verdict.ts';
import { judge, situationOf } from './judge.ts';
import { afterConfirmed, afterSight, firstSight, type GuardMemory, type Sight } from './memory.ts';
import { type Counts, countsOf, type Days, dayOn, readDays } from './rows.ts';

/** Emails a day that recovery mode sends at most (the API's document, section 2). */
export const recoveryMailsPerDay = 15;
/** The API is asked for this many days; for a policy with a longer window, for more. */
const leastStatsDays = 30;

export interface Past {
  /** Today's mode: the API does not tell earlier ones, so it is taken for the mode of all days. */
  readonly mode: string | null;
  readonly weekdaysOnly: boolean;
  readonly rows: readonly StatsRow[];
  readonly now: EpochMs;
}

export interface ReplayedAction {
  readonly date: IsoDate;
  readonly kind: GuardActionKind;
  /** Verdict with its counts, as the guard's earlier actions would have left them. */
  readonly verdict: Verdict;
}

export interface Replay {
  /** First and last day; null without any row. */
  readonly from: IsoDate | null;
  readonly to: IsoDate | null;
  readonly actions: readonly ReplayedAction[];
  /** Switches to recovery and pauses; a restore is none. */
  readonly interventions: number;
  /** Days after a switch or a pause of ours that were spent so. */
  readonly daysInRecovery: number;
  readonly daysPaused: number;
  /** Days on which the guard would have held: stale, unreadable or implausible counts, an unknown mode. */
  readonly daysHeld: number;
  readonly sent: number;
  readonly bounced: number;
  readonly bouncesAvoided: number;
  readonly sendsLost: number;
}

interface ReplayState {
  readonly mode: string | null;
  readonly paused: boolean;
  readonly memory: GuardMemory | null;
  /** Days so far, as they would have been. */
  readonly rows: readonly StatsRow[];
  /** Part of a bounce that earlier days of recovery left over, so that the sum keeps the share of bounces. */
  readonly restOfBounce: number;
}

/**
 * Replays `policy` over the past. A day is judged when it is over and complete, and what is done then counts from the
 * next day on; so a first breach waits for no second answer. The mailbox ran on all days. In a recovery of ours it
 * sends at most 15 a day, of which the same share bounces; paused, nothing until the end, for only a person resumes;
 * restored, what it really sent. `enforce` is taken for true, and the breaker is left out: it is about the fleet.
 */
export function replayGuard(policy: Policy, past: Past): Replay {
  const days = readDays(past.rows, past.now);
  const total = { actions: [] as ReplayedAction[], daysInRecovery: 0, daysPaused: 0, daysHeld: 0 };
  const counted = { sent: 0, bounced: 0, sentAfter: 0, bouncedAfter: 0 };
  // An undated row could belong to any day, so every look has it.
  const undated = days.undated ? [rowOf(null, null)] : [];
  let state: ReplayState = { mode: past.mode, paused: false, memory: null, rows: undated, restOfBounce: 0 };
  for (let date = days.oldest; date !== null && days.anchor !== null && date <= days.anchor; date = addDays(date, 1)) {
    const inRecovery = state.memory?.claim?.kind === 'recovery';
    if (state.paused) total.daysPaused += 1;
    else if (inRecovery) total.daysInRecovery += 1;
    const counts = countsOf(days, date);
    const lived = liveDay(state, inRecovery, counts);
    counted.sent += counts?.sent ?? 0;
    counted.bounced += counts?.bounced ?? 0;
    counted.sentAfter += lived.counts?.sent ?? 0;
    counted.bouncedAfter += lived.counts?.bounced ?? 0;
    const rows = dayOn(days, date) ? [...state.rows, rowOf(date, lived.counts)] : state.rows;
    const { next, verdict } = endOfDay(policy, past, { ...state, rows, restOfBounce: lived.restOfBounce }, date);
    if (verdict.action === 'hold') total.daysHeld += 1;
    if (isGuardActionKind(verdict.action)) total.actions.push({ date, kind: verdict.action, verdict });
    state = next;
  }
  return {
    ...range(days),
    ...total,
    interventions: total.actions.filter(({ kind }) => kind !== 'restore').length,
    sent: counted.sent,
    bounced: counted.bounced,
    bouncesAvoided: counted.bounced - counted.bouncedAfter,
    sendsLost: counted.sent - counted.sentAfter,
  };
}

function range(days: Days): { readonly from: IsoDate | null; readonly to: IsoDate | null } {
  return { from: days.oldest, to: days.anchor };
}

/** Counts that a day would have had. An unreadable day stays unreadable. */
function liveDay(
  state: ReplayState,
  inRecovery: boolean,
  counts: Counts | null,
): { readonly counts: Counts | null; readonly restOfBounce: number } {
  const { restOfBounce } = state;
  if (!counts) return { counts, restOfBounce };
  if (state.paused) return { counts: { sent: 0, bounced: 0 }, restOfBounce };
  if (!inRecovery || counts.sent <= recoveryMailsPerDay) return { counts, restOfBounce };
  const bounces = (counts.bounced * recoveryMailsPerDay) / counts.sent + restOfBounce;
  const bounced = Math.min(counts.bounced, Math.floor(bounces));
  return { counts: { sent: recoveryMailsPerDay, bounced }, restOfBounce: bounces - bounced };
}

function rowOf(date: IsoDate | null, counts: Counts | null): StatsRow {
  const unknown = { delivered: null, opened: null, replied: null, spamLanded: null };
  const percents = { healthScore: null, inboxRatePercent: null, bounceRatePercent: null };
  return { date, sent: counts?.sent ?? null, bounced: counts?.bounced ?? null, ...unknown, ...percents };
}

/** The guard's look at the end of a day, and the mailbox after it. */
function endOfDay(
  policy: Policy,
  past: Past,
  state: ReplayState,
  date: IsoDate,
): { readonly next: ReplayState; readonly verdict: Verdict } {
  const now = Date.parse(`${date}T00:00:00Z`) + dayMs - 1;
  const asked = addDays(date, 1 - Math.max(leastStatsDays, policy.windowMaxDays));
  const rows = state.rows.filter((row) => row.date === null || row.date >= asked);
  const sight: Sight = { mode: state.mode, run: state.paused ? 'paused' : 'running', rows, now };
  const memory = state.memory ? afterSight(policy, state.memory, sight) : firstSight(policy, sight);
  const look = { ...sight, statsAt: now, weekdaysOnly: past.weekdaysOnly };
  const verdict = judge(policy, situationOf(policy, memory, look, false));
  const kind = verdict.action;
  if (!isGuardActionKind(kind)) return { next: { ...state, memory }, verdict };
  const mode =
    kind === 'recovery' ? 'recovery' : kind === 'restore' ? (memory.claim?.previousMode ?? null) : state.mode;
  const paused = kind === 'pause';
  const done = { kind, actionId: `${date}/${kind}`, previousMode: state.mode, word: null };
  const after = afterConfirmed(memory, done, { ...sight, mode, run: paused ? 'paused' : 'running' });
  return { next: { ...state, mode, paused, memory: after }, verdict };
}
