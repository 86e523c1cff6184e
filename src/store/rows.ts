// Converts JSON in rows of the store into values of the model. A row with other content is damaged: the error names it,
// so that a person can look at it and delete it.

import { type Insertable, type RawBuilder, type Selectable, sql } from 'kysely';
import type { Action } from '../core/action.ts';
import { type Observed, type Route, type StatsAnswer, statsRow, statsValues } from '../core/answers.ts';
import type { GuardMemory } from '../core/guard/memory.ts';
import type { MailboxState } from '../core/mailbox.ts';
import { scopeKey, type WritesOff } from '../core/write-scope.ts';
import { nextTurn } from '../world/world.ts';
import { DamagedRowError, type RowKey } from './failure.ts';
import { type Db, keyOf, type Tables } from './schema/tables.ts';

/** Parses a stored object or list. Throws DamagedRowError. */
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

export type StoredMailbox = Selectable<Tables['mailboxes']>;

/** Row of a mailbox without `left_at`. */
export function mailboxRow(mailbox: MailboxState): Omit<StoredMailbox, 'left_at'> {
  return {
    ...{ account: mailbox.account, mailbox_id: mailbox.id, email: mailbox.email },
    ...{ first_seen_at: mailbox.firstSeenAt, missing_lists: mailbox.missingLists },
    memory: mailbox.memory ? JSON.stringify(mailbox.memory) : null,
  };
}

/** Part of the state that mailboxRow() stored. The rest is in other tables. */
export function storedMailbox({ account, mailbox_id, memory, ...row }: StoredMailbox) {
  return {
    ...{ account, id: mailbox_id, email: row.email },
    ...{ firstSeenAt: row.first_seen_at, missingLists: row.missing_lists },
    memory: memory ? parsed<GuardMemory>(memory, 'mailboxes', { account, mailbox_id }) : null,
  } satisfies Partial<MailboxState>;
}

export type StoredRoute = Exclude<Route, 'health'>;

/** Newest answer of a route, or null if none was read. */
export function observationOf(mailbox: MailboxState, route: StoredRoute): Observed<unknown> | null {
  if (route === 'mailboxes') return mailbox.entry;
  if (route === 'mailbox') return mailbox.detail;
  return mailbox[route];
}

// Statistics. A day is stored as its values alone: with their names, an answer would be four times as long.

/** Newest answer of a route as it is stored. */
export function answerText(mailbox: MailboxState, route: StoredRoute): string {
  if (route !== 'stats' || !mailbox.stats) return JSON.stringify(observationOf(mailbox, route)?.answer ?? null);
  return JSON.stringify({ days: mailbox.stats.answer.rows?.map(statsValues) ?? null });
}

/** Row of an answer, or null if none was read. */
export function observationRow(mailbox: MailboxState, route: StoredRoute) {
  const observed = observationOf(mailbox, route);
  const { account, id: mailbox_id } = mailbox;
  return observed && { account, mailbox_id, route, observed_at: observed.at, answer: answerText(mailbox, route) };
}

type StoredStats = { readonly days: readonly ReturnType<typeof statsValues>[] | null };

export function storedStats({ days }: StoredStats): StatsAnswer {
  return { rows: days?.map(statsRow) ?? null };
}

export function writeStops(db: Db, stops: readonly WritesOff[]): Promise<void> {
  return upsert(
    db,
    'writes_off',
    stops.map((off) => ({ scope: scopeKey(off.scope), off: JSON.stringify(off) })),
  );
}

/** Matches the rows of a list, newest first, that come after a place in it. */
export function isAfter(columns: readonly string[], place: readonly (string | number)[]): RawBuilder<boolean> {
  return sql<boolean>`(${sql.join(columns.map((column) => sql.ref(column)))}) < (${sql.join(place)})`;
}

// Splits long lists into batches, with a turn of the event loop between two: awaited statements alone never yield to
// it.

/** Rows or ids per statement: SQLite accepts 32,766 parameters, and a row has up to ten. */
export const rowsAPiece = 100;

/** Keeps the last row of each key: PostgreSQL refuses a statement that writes a row twice. */
export function lastOfEach<Row>(rows: readonly Row[], keyOf: (row: Row) => string): readonly Row[] {
  return [...new Map(rows.map((row) => [keyOf(row), row])).values()];
}

export async function inPieces<Row>(
  rows: readonly Row[],
  work: (piece: readonly Row[]) => Promise<unknown>,
): Promise<void> {
  for (let from = 0; from < rows.length; from += rowsAPiece) {
    if (from > 0) await nextTurn();
    await work(rows.slice(from, from + rowsAPiece));
  }
}

/** Inserts rows, and replaces rows with the same key. The last of several rows with one key is written. */
export function upsert<Table extends keyof Tables>(
  db: Db,
  table: Table,
  rows: readonly Insertable<Tables[Table]>[],
): Promise<void> {
  const key = keyOf(table);
  const cellOf = (row: Insertable<Tables[Table]>, column: string) => (row as Record<string, unknown>)[column];
  const last = lastOfEach(rows, (row) => JSON.stringify(key.map((column) => cellOf(row, column))));
  return inPieces(last, (piece) => {
    const columns = Object.keys(piece[0] ?? {});
    const names = sql.join(columns.map((column) => sql.ref(column)));
    const values = piece.map((row) => sql`(${sql.join(columns.map((column) => cellOf(row, column)))})`);
    const changed = columns.filter((column) => !key.includes(column));
    const replaced = changed.map((column) => sql`${sql.ref(column)} = ${sql.ref(`excluded.${column}`)}`);
    return sql`INSERT INTO ${sql.table(table)} (${names}) VALUES ${sql.join(values)}
      ON CONFLICT (${sql.join(key.map((column) => sql.ref(column)))}) DO UPDATE SET ${sql.join(replaced)}`.execute(db);
  });
}
