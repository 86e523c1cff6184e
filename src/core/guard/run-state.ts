// Meaning of a warm-up's status word. The API does not document its words (api/mailbox-api.md section 3, gaps).
import type { GuardActionKind } from '../action.ts';
import type { StatsRow } from '../answers.ts';
import { awaitsJudgement, type GuardState, type MailboxState } from '../mailbox.ts';
import type { Ppm } from '../policy.ts';
import { addDays, type EpochMs, type IsoDate, utcDate } from '../time.ts';
import { isBlind, type RunState, type Verdict } from '../verdict.ts';
import type { GuardMemory } from './memory.ts';
import { type Days, newestToday, readDays, sendingDaysAfter } from './rows.ts';

export interface StatusWords {
  readonly paused: readonly string[];
  readonly running: readonly string[];
  readonly notRunning: readonly string[];
}

/** Status words are compared without case and spaces. */
function plainWord(status: string | null): string | null {
  return status?.trim().toLowerCase() || null;
}

/** The state that a word names; null for a word that nobody listed. */
export function wordState(status: string | null, words: StatusWords): RunState | null {
  const word = plainWord(status);
  if (!word) return null;
  if (words.paused.includes(word)) return 'paused';
  if (words.running.includes(word)) return 'running';
  return words.notRunning.includes(word) ? 'not_running' : null;
}

type Remembered = Pick<GuardMemory, 'claim' | 'pauseWord' | 'runningWord' | 'unjudgedSince'>;

/**
 * The run state by the word. A pause of ours, and the word that proved a pause, mean paused until a known running word. An
 * unknown word counts as running when emails left today or yesterday (UTC, one day ahead allowed). One that replaced the word
 * under which the mailbox ran is proven only by emails of a later day than that of the change.
 */
export function runStateOf(
  status: string | null,
  words: StatusWords,
  rows: readonly StatsRow[] | null,
  now: EpochMs,
  memory: Remembered | null = null,
): RunState {
  const named = wordState(status, words);
  const { claim, pauseWord, runningWord, unjudgedSince } = memory ?? {};
  const word = plainWord(status);
  const ranSo = runningWord !== undefined && plainWord(runningWord) === word;
  if (claim?.kind === 'pause' && named !== 'running' && !(ranSo && word !== null)) return 'paused';
  if (named) return named;
  if (status !== null && status === pauseWord) return 'paused';
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

// State of the guard for a mailbox in one word, for the page, the metric and the table.

type Judged = Pick<MailboxState, 'verdict' | 'memory' | 'entry' | 'detail' | 'stats'>;

/** The state of a mailbox. Before the first verdict, or with newer statistics than that, it is not judged; one that is disconnected is never ok. */
export function guardStateOf(mailbox: Judged, nearLimitPpm: Ppm): GuardState {
  const verdict = mailbox.verdict?.answer;
  if (verdict?.reason === 'no_warmup') return 'no_warmup';
  if (!verdict || awaitsJudgement(mailbox)) return 'not_judged';
  if (verdict.reason === 'already_paused')
    return mailbox.memory?.claim?.kind === 'pause' ? 'paused_by_guard' : 'paused_by_others';
  if (verdict.reason === 'not_running') return 'not_running';
  if (isBlind(verdict.reason)) return 'not_judged';
  if (verdict.action === 'hold') {
    return verdict.reason === 'first_sight' || verdict.reason === 'circuit_breaker' ? 'held' : 'not_judged';
  }
  if (verdict.action !== 'none') return stateAfter(verdict.action, mailbox);
  if (isOverLimit(verdict)) return 'over_limit';
  if (mailbox.memory?.claim?.kind === 'recovery') return 'recovering';
  if (isNearLimit(verdict, nearLimitPpm)) return 'near_limit';
  return isDisconnected(mailbox) ? 'not_running' : 'ok';
}

/** The state that the last verdict by itself gives, whatever was read, claimed or confirmed since. */
export function stateByVerdict(mailbox: Judged, nearLimitPpm: Ppm): GuardState {
  return guardStateOf({ ...mailbox, memory: null, stats: null }, nearLimitPpm);
}

/** State while an action is wanted, and from its confirmation until the next judged answer. */
function stateAfter(wanted: GuardActionKind, { memory, verdict }: Judged): GuardState {
  const claim = memory?.claim;
  if (wanted === 'restore') return claim ? 'recovering' : 'ok';
  if (!verdict || claim?.kind !== wanted || claim.since < verdict.at) return 'held';
  return wanted === 'pause' ? 'paused_by_guard' : 'recovering';
}

/**
 * True if the rate is over the limit, without an action: too few bounces, or the configuration asks for an alert only.
 */
function isOverLimit({ limitPpm, bounced, sent }: Verdict): boolean {
  return limitPpm !== null && bounced * 1e6 > limitPpm * sent;
}

function isNearLimit(verdict: Verdict, nearLimitPpm: Ppm): boolean {
  if (verdict.limitPpm === null || verdict.bounced === 0) return false;
  return verdict.bounced * 1e12 >= verdict.limitPpm * nearLimitPpm * verdict.sent;
}

// Detection of lost connections in the API's words.

/** Words that mean a lost connection wherever they stand in a status. The API documents none besides `active`. */
const lostConnection = /disconnect|connection|reconnect|unauthori|auth_?(error|fail|expired)|credential/;

/** True if a status word means a lost connection. */
export function saysDisconnected(status: string | null): boolean {
  return status !== null && lostConnection.test(status.toLowerCase());
}

/**
 * True if the newest list entry or the newest details report a lost connection. Such a mailbox neither sends nor
 * receives.
 */
export function isDisconnected({ entry, detail }: Pick<MailboxState, 'entry' | 'detail'>): boolean {
  if (saysDisconnected(entry.answer.status)) return true;
  return detail !== null && (detail.answer.connection === 'error' || saysDisconnected(detail.answer.status));
}
