// Statistics as JSON, a list a day. Beside them stands the verdict on them, so that the row of the decision need not be written
// with each of them.
import type { Observed, StatsAnswer, StatsRow } from '../../core/answers.ts';
import type { EpochMs } from '../../core/time.ts';
import type { Verdict } from '../../core/verdict.ts';
import { DamagedRowError, type RowKey } from '../failure.ts';
import { parsed, type StoredVerdict, verdictFrom, verdictText } from './stored.ts';

/** Counts of a day in their stored order, behind the date. */
const countFields = [
  ...['sent', 'bounced', 'delivered', 'opened', 'replied', 'spamLanded'],
  ...['inboxRatePercent', 'bounceRatePercent', 'healthScore'],
] as readonly Exclude<keyof StatsRow, 'date'>[];

interface StoredStats {
  /** `["2026-03-04",12,0,...]` a day. */
  readonly rows: readonly (readonly (string | number | null)[])[] | null;
  readonly judgedAt?: EpochMs;
  readonly verdict?: StoredVerdict;
}

/** `{"rows":[["2026-03-04",12,0,...]],"judgedAt":1772626200000,"verdict":{...}}`; before they were judged, the rows alone. */
export function statsText({ rows }: StatsAnswer, judged: Observed<Verdict> | null): string {
  const stored = { rows: rows?.map((row) => [row.date, ...countFields.map((field) => row[field])]) ?? null };
  const text = JSON.stringify(stored);
  return judged ? `${text.slice(0, -1)},"judgedAt":${judged.at},"verdict":${verdictText(judged.answer)}}` : text;
}

/** Statistics, and the verdict beside them. */
export interface ReadStats {
  readonly stats: StatsAnswer;
  readonly judged: Observed<Verdict> | null;
}

/** `key`: that of the observation's row. Throws DamagedRowError. */
export function readStats(text: string, key: RowKey): ReadStats {
  const { rows, judgedAt: at, verdict } = parsed<StoredStats>(text, 'observations', key);
  const areRows = rows === null || (Array.isArray(rows) && rows.every(isStoredRow));
  const isJudged = Number.isFinite(at) && typeof verdict === 'object' && verdict !== null;
  if (!areRows || (!isJudged && (at !== undefined || verdict !== undefined))) {
    throw new DamagedRowError('observations', key);
  }
  const judged = at !== undefined && verdict ? { at, answer: verdictFrom(verdict) } : null;
  return { stats: { rows: rows?.map(rowOf) ?? null }, judged };
}

function isStoredRow(row: unknown): boolean {
  if (!Array.isArray(row) || row.length !== 1 + countFields.length) return false;
  const [date, ...counts] = row;
  return (date === null || typeof date === 'string') && counts.every((one) => one === null || Number.isFinite(one));
}

function rowOf([date, ...counts]: readonly (string | number | null)[]): StatsRow {
  return { date, ...Object.fromEntries(countFields.map((field, at) => [field, counts[at]])) } as StatsRow;
}
