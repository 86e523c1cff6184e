// The guard over a mailbox's past, day by day.
import { type GuardActionKind, isGuardActionKind } from '../action.ts';
import type { StatsRow } from '../answers.ts';
import { type Counts, daysNeeded, maxPerDay, type Policy } from '../policy.ts';
import { addDays, dayMs, type EpochMs, type IsoDate } from '../time.ts';
import type { Verdict } from '../verdict.ts';
import { judge, situationOf } from './judge.ts';
import { afterConfirmed, afterSight, firstSight, type GuardMemory, type Sight } from './memory.ts';
import { countsOf, dayOn, readDays } from './rows.ts';

export interface Past {
  /** Today's mode, for all days: the API does not report earlier ones. */
  readonly mode: string | null;
  readonly weekdaysOnly: boolean;
  readonly rows: readonly StatsRow[];
  readonly now: EpochMs;
}

export interface ReplayedAction {
  readonly date: IsoDate;
  readonly kind: GuardActionKind;
  /** The counts are those that earlier actions would have left. */
  readonly verdict: Verdict;
}

export interface Replay {
  readonly from: IsoDate | null;
  readonly to: IsoDate | null;
  readonly actions: readonly ReplayedAction[];
  readonly interventions: number;
  readonly daysInRecovery: number;
  readonly daysPaused: number;
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
  readonly rows: readonly StatsRow[];
  /** Fraction of a bounce from earlier recovery days, which keeps the share of bounces. */
  readonly restOfBounce: number;
}

/**
 * A complete day is judged, and an action counts from the next day. In recovery the mailbox sends at most 15 a day with the
 * same share of bounces; paused, nothing, for only a person resumes. `enforce` counts as true, and there is no breaker.
 */
export function replayGuard(policy: Policy, past: Past): Replay {
  const days = readDays(past.rows, past.now);
  const replay = {
    ...{ from: days.oldest, to: days.anchor, actions: [] as ReplayedAction[], interventions: 0 },
    ...{ daysInRecovery: 0, daysPaused: 0, daysHeld: 0, sent: 0, bounced: 0, bouncesAvoided: 0, sendsLost: 0 },
  };
  // An undated row could belong to any day, so every look has it.
  const undated = days.undated ? [rowOf(null, null)] : [];
  let state: ReplayState = { mode: past.mode, paused: false, memory: null, rows: undated, restOfBounce: 0 };
  for (let date = days.oldest; date !== null && days.anchor !== null && date <= days.anchor; date = addDays(date, 1)) {
    const inRecovery = state.memory?.claim?.kind === 'recovery';
    if (state.paused) replay.daysPaused += 1;
    else if (inRecovery) replay.daysInRecovery += 1;
    const counts = countsOf(days, date);
    const lived = liveDay(state, inRecovery, counts);
    replay.sent += counts?.sent ?? 0;
    replay.bounced += counts?.bounced ?? 0;
    replay.sendsLost += (counts?.sent ?? 0) - (lived.counts?.sent ?? 0);
    replay.bouncesAvoided += (counts?.bounced ?? 0) - (lived.counts?.bounced ?? 0);
    const rows = dayOn(days, date) ? [...state.rows, rowOf(date, lived.counts)] : state.rows;
    const { next, verdict } = endOfDay(policy, past, { ...state, rows, restOfBounce: lived.restOfBounce }, date);
    if (verdict.action === 'hold') replay.daysHeld += 1;
    if (isGuardActionKind(verdict.action)) replay.actions.push({ date, kind: verdict.action, verdict });
    if (verdict.action === 'recovery' || verdict.action === 'pause') replay.interventions += 1;
    state = next;
  }
  return replay;
}

/** An unreadable day stays unreadable. */
function liveDay(
  state: ReplayState,
  inRecovery: boolean,
  counts: Counts | null,
): { readonly counts: Counts | null; readonly restOfBounce: number } {
  const { restOfBounce } = state;
  if (!counts) return { counts, restOfBounce };
  if (state.paused) return { counts: { sent: 0, bounced: 0 }, restOfBounce };
  if (!inRecovery || counts.sent <= maxPerDay.recovery) return { counts, restOfBounce };
  const bounces = (counts.bounced * maxPerDay.recovery) / counts.sent + restOfBounce;
  const bounced = Math.min(counts.bounced, Math.floor(bounces));
  return { counts: { sent: maxPerDay.recovery, bounced }, restOfBounce: bounces - bounced };
}

function rowOf(date: IsoDate | null, counts: Counts | null): StatsRow {
  const unknown = { delivered: null, opened: null, replied: null, spamLanded: null };
  const percents = { healthScore: null, inboxRatePercent: null, bounceRatePercent: null };
  return { date, sent: counts?.sent ?? null, bounced: counts?.bounced ?? null, ...unknown, ...percents };
}

function endOfDay(
  policy: Policy,
  past: Past,
  state: ReplayState,
  date: IsoDate,
): { readonly next: ReplayState; readonly verdict: Verdict } {
  const now = Date.parse(`${date}T00:00:00Z`) + dayMs - 1;
  const asked = addDays(date, 1 - daysNeeded(policy));
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
