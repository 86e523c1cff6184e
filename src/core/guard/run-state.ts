// Meaning of a warm-up's status word, which the API does not document.
import type { GuardActionKind } from '../action.ts';
import type { StatsRow } from '../answers.ts';
import { awaitsJudgement, type GuardState, type MailboxState } from '../mailbox.ts';
import { isOver, type Ppm } from '../policy.ts';
import { addDays, type EpochMs, type IsoDate, utcDate } from '../time.ts';
import { isJudged, type RunState, type Verdict } from '../verdict.ts';
import type { GuardMemory } from './memory.ts';
import { type Days, newestToday, readDays, sendingDaysAfter } from './rows.ts';

export interface StatusWords {
  readonly paused: readonly string[];
  readonly running: readonly string[];
  readonly notRunning: readonly string[];
}

export function plainWord(status: string | null): string | null {
  return status?.trim().toLowerCase() || null;
}

export function wordState(status: string | null, words: StatusWords): RunState | null {
  const word = plainWord(status);
  if (!word) return null;
  if (words.paused.includes(word)) return 'paused';
  if (words.running.includes(word)) return 'running';
  return words.notRunning.includes(word) ? 'not_running' : null;
}

/**
 * A pause of ours and its proven word mean paused until a known running word. An unknown word means running if emails
 * left today or yesterday; if it replaced a running word, only emails after the day of the change prove that.
 */
export function runStateOf(
  status: string | null,
  words: StatusWords,
  rows: readonly StatsRow[] | null,
  now: EpochMs,
  memory: Pick<GuardMemory, 'claim' | 'pauseWord' | 'runningWord' | 'unjudgedSince'> | null = null,
): RunState {
  const named = wordState(status, words);
  const { claim, pauseWord, runningWord, unjudgedSince } = memory ?? {};
  const word = plainWord(status);
  const ranSo = runningWord !== undefined && plainWord(runningWord) === word;
  if (claim?.kind === 'pause' && named !== 'running' && !(ranSo && word !== null)) return 'paused';
  if (named) return named;
  if (status !== null && pauseWord && plainWord(pauseWord) === word) return 'paused';
  const replacesIt = runningWord !== undefined && !ranSo;
  const provenAfter = replacesIt ? (unjudgedSince ?? newestToday(rows, now)) : longAgo;
  return leftLately(readDays(rows ?? [], now), provenAfter, now) ? 'running' : 'unknown';
}

const longAgo: IsoDate = '0000-01-01';

/** True if emails left after a date, and today or yesterday (UTC, one day ahead allowed). */
export function leftLately(days: Days, after: IsoDate, now: EpochMs): boolean {
  const yesterday = addDays(utcDate(now), -1);
  return sendingDaysAfter(days, after).some((date) => date >= yesterday);
}

// State of the guard for a mailbox in one word.

type Judged = Pick<MailboxState, 'verdict' | 'memory' | 'entry' | 'detail'> & {
  readonly stats: { readonly at: EpochMs } | null;
};

/**
 * Not judged without a verdict on the newest statistics, or if these are stale (`Fleet.isStale`): a bounce would not be
 * seen. What was paused or is held stays so. A disconnected mailbox is never ok.
 */
export function guardStateOf(mailbox: Judged, nearLimitPpm: Ppm, isStale: boolean): GuardState {
  const state = stateByAnswers(mailbox, nearLimitPpm);
  return isStale && watchedStates.includes(state) ? 'not_judged' : state;
}

/** States that say that new bounces would be seen. */
const watchedStates: readonly GuardState[] = ['ok', 'near_limit', 'over_limit', 'recovering'];

function stateByAnswers(mailbox: Judged, nearLimitPpm: Ppm): GuardState {
  const verdict = mailbox.verdict?.answer;
  if (verdict?.reason === 'no_warmup') return 'no_warmup';
  if (!verdict || awaitsJudgement(mailbox)) return 'not_judged';
  if (verdict.reason === 'already_paused')
    return mailbox.memory?.claim?.kind === 'pause' ? 'paused_by_guard' : 'paused_by_others';
  if (verdict.reason === 'not_running') return 'not_running';
  // No statistics under an unknown status word: neither says that the mailbox is fine.
  const isBlank = verdict.reason === 'no_data' && verdict.run === 'unknown';
  if (isBlank || !isJudged(verdict.reason)) return 'not_judged';
  if (verdict.action === 'hold') return 'held';
  if (verdict.action !== 'none') return stateAfter(verdict.action, mailbox);
  // With too few bounces, or if the configuration only alerts.
  if (isOver(verdict, verdict.limitPpm)) return 'over_limit';
  if (mailbox.memory?.claim?.kind === 'recovery') return 'recovering';
  if (isNearLimit(verdict, nearLimitPpm)) return 'near_limit';
  return isDisconnected(mailbox) ? 'not_running' : 'ok';
}

export function stateByVerdict(mailbox: Judged, nearLimitPpm: Ppm): GuardState {
  return stateByAnswers({ ...mailbox, memory: null, stats: null }, nearLimitPpm);
}

/** State while an action is wanted, and until the next judged answer. */
function stateAfter(wanted: GuardActionKind, { memory, verdict }: Judged): GuardState {
  const claim = memory?.claim;
  if (wanted === 'restore') return claim ? 'recovering' : 'ok';
  if (!verdict || claim?.kind !== wanted || claim.since < verdict.at) return 'held';
  return wanted === 'pause' ? 'paused_by_guard' : 'recovering';
}

function isNearLimit(verdict: Verdict, nearLimitPpm: Ppm): boolean {
  if (verdict.limitPpm === null || verdict.bounced === 0) return false;
  return verdict.bounced * 1e12 >= verdict.limitPpm * nearLimitPpm * verdict.sent;
}

/** Words for a lost connection. The API documents only `active`. */
const lostConnection =
  /disconnect|reconnect|not.?connected|(no|lost|bad|broken|invalid|failed).?connection|connection.?(error|fail|lost|refused|closed|broken|issue|problem|invalid|expired)|unauthori|auth_?(error|fail|expired)|credential/;

export function saysDisconnected(status: string | null): boolean {
  return status !== null && lostConnection.test(status.toLowerCase());
}

/** A disconnected mailbox neither sends nor receives. */
export function isDisconnected({ entry, detail }: Pick<MailboxState, 'entry' | 'detail'>): boolean {
  if (saysDisconnected(entry.answer.status)) return true;
  return detail !== null && (detail.answer.connection === 'error' || saysDisconnected(detail.answer.status));
}
