// JSON in rows of the store as values of the model. A row that holds something else is damaged: it is named, so that a person can look
// at it and delete it.
import type { Action } from '../core/action.ts';
import type { Observed, StatsAnswer, StatsRow } from '../core/answers.ts';
import type { EpochMs } from '../core/time.ts';
import type { Verdict } from '../core/verdict.ts';
import type { WritesOff } from '../core/write-scope.ts';
import { nextTurn } from '../world/world.ts';
import { DamagedRowError, type RowKey } from './failure.ts';
import type { Tables } from './schema/tables.ts';

/** The stored object or list. Throws DamagedRowError. */
export function parsed<Value>(json: string, table: keyof Tables, key: RowKey): Value {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw new DamagedRowError(table, key);
  }
  if (typeof value !== 'object' || value === null) throw new DamagedRowError(table, key);
  return value as Value;
}

export function storedAction({ id, action }: { readonly id: string; readonly action: string }): Action {
  return parsed<Action>(action, 'actions', { id });
}

export function storedWritesOff({ scope, off }: { readonly scope: string; readonly off: string }): WritesOff {
  return parsed<WritesOff>(off, 'writes_off', { scope });
}

/** The names that a message with this id is about. Throws DamagedRowError. */
export function storedNames(text: string, id: string): readonly string[] {
  const names = parsed<unknown>(text, 'deliveries', { id });
  if (Array.isArray(names) && names.every((name) => typeof name === 'string')) return names;
  throw new DamagedRowError('deliveries', { id });
}

// Statistics, a list a day. Beside them stands the verdict on them, so that the row of the decision need not be written with each.

/** Counts of a day in their stored order, behind the date. */
const countFields = [
  ...['sent', 'bounced', 'delivered', 'opened', 'replied', 'spamLanded'],
  ...['inboxRatePercent', 'bounceRatePercent', 'healthScore'],
] as readonly Exclude<keyof StatsRow, 'date'>[];

interface StoredStats {
  /** `["2026-03-04",12,0,...]` a day. */
  readonly rows: readonly (readonly (string | number | null)[])[] | null;
  readonly judgedAt?: EpochMs;
  readonly verdict?: Verdict;
}

/** `{"rows":[["2026-03-04",12,0,...]],"judgedAt":1772626200000,"verdict":{...}}`; before they were judged, the rows alone. */
export function statsText({ rows }: StatsAnswer, judged: Observed<Verdict> | null): string {
  const days = rows?.map((row) => [row.date, ...countFields.map((field) => row[field])]) ?? null;
  return JSON.stringify({ rows: days, judgedAt: judged?.at, verdict: judged?.answer });
}

/** Statistics, and the verdict beside them. */
export interface ReadStats {
  readonly stats: StatsAnswer;
  readonly judged: Observed<Verdict> | null;
}

/** Statistics in an observation's row with this key. Throws DamagedRowError. */
export function readStats(text: string, key: RowKey): ReadStats {
  const { rows, judgedAt: at, verdict } = parsed<StoredStats>(text, 'observations', key);
  if (rows !== null && !(Array.isArray(rows) && rows.every(isStoredDay)))
    throw new DamagedRowError('observations', key);
  const judged = at !== undefined && verdict ? { at, answer: verdict } : null;
  return { stats: { rows: rows?.map(rowOf) ?? null }, judged };
}

const isStoredDay = (day: unknown) => Array.isArray(day) && day.length === 1 + countFields.length;

function rowOf([date, ...counts]: readonly (string | number | null)[]): StatsRow {
  return { date, ...Object.fromEntries(countFields.map((field, at) => [field, counts[at]])) } as StatsRow;
}

// Long lists in pieces, with a turn of the event loop between two: awaited statements alone never give it one.

/** So many rows or ids go into one statement; SQLite takes 32,766 parameters, and a row has up to ten. */
export const rowsAPiece = 100;

/** Of rows with one key the last: PostgreSQL refuses a statement that writes a row twice. */
export function lastOfEach<Row>(rows: readonly Row[], keyOf: (row: Row) => string): readonly Row[] {
  return [...new Map(rows.map((row) => [keyOf(row), row])).values()];
}

/** Works through rows piece by piece; nothing for none. */
export async function inPieces<Row>(
  rows: readonly Row[],
  work: (piece: readonly Row[]) => Promise<unknown>,
  aPiece = rowsAPiece,
): Promise<void> {
  for (let from = 0; from < rows.length; from += aPiece) {
    if (from > 0) await nextTurn();
    await work(rows.slice(from, from + aPiece));
  }
}
