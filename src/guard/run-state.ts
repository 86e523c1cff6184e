// What a warm-up's status word means. The API does not document its words (api/mailbox-api.md section 3, gaps).
import type { StatsRow } from '../model/answers.ts';
import { addDays, type EpochMs, utcDate } from '../model/time.ts';
import type { RunState } from '../model/verdict.ts';

/** The words of `api.status_words`, in lower case. */
export interface StatusWords {
  readonly paused: readonly string[];
  readonly running: readonly string[];
  readonly notRunning: readonly string[];
}

/** The state that a word names; null for a word that nobody listed. */
export function wordState(status: string | null, words: StatusWords): RunState | null {
  const word = status?.trim().toLowerCase();
  if (!word) return null;
  if (words.paused.includes(word)) return 'paused';
  if (words.running.includes(word)) return 'running';
  return words.notRunning.includes(word) ? 'not_running' : null;
}

/** The run state: by the word; an unknown word counts as running when mail left today or yesterday (UTC, one day ahead allowed). */
export function runStateOf(
  status: string | null,
  words: StatusWords,
  rows: readonly StatsRow[] | null,
  now: EpochMs,
): RunState {
  const named = wordState(status, words);
  if (named) return named;
  const yesterday = addDays(utcDate(now), -1);
  const tomorrow = addDays(utcDate(now), 1);
  const sends = (row: StatsRow) =>
    row.date !== null && row.date >= yesterday && row.date <= tomorrow && row.sent !== null && row.sent > 0;
  return rows?.some(sends) ? 'running' : 'unknown';
}
