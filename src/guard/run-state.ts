// What a warm-up's status word means. The API does not document its words (api/mailbox-api.md section 3, gaps).
import type { StatsRow } from '../model/answers.ts';
import type { GuardMemory } from '../model/guard-memory.ts';
import { addDays, type EpochMs, type IsoDate, utcDate } from '../model/time.ts';
import type { RunState } from '../model/verdict.ts';
import { type Days, newestToday, readDays, sendingDaysAfter } from './rows.ts';

/** The words of `api.status_words`, in lower case. */
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

/** The part of the memory that a status word is read with. */
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

/** Whether emails left today or yesterday (UTC, one day ahead allowed), and after a date. */
export function leftLately(days: Days, after: IsoDate, now: EpochMs): boolean {
  const yesterday = addDays(utcDate(now), -1);
  return sendingDaysAfter(days, after).some((date) => date >= yesterday);
}
