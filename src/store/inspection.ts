// Soundness of a whole store, for commands: readable JSON, and rows that are consistent with one another. The check runs
// in a process of its own, because it takes a long time.
import { sql } from 'kysely';
import { sentence } from '../core/wording/explain.ts';
import type { DamagedRowError, RowKey } from './failure.ts';
import { parsed } from './rows.ts';
import { type Db, jsonColumns, keyOf, type Tables } from './schema/tables.ts';

export interface ReadableDatabase {
  readonly db: Db;
  readonly sentence: (error: unknown) => Error;
  readonly schema: () => Promise<number>;
  readonly problems: () => Promise<readonly string[]>;
}

export const namedAtMost = 20;
const rowsARead = 200;

/** Rules that every transaction keeps. Each query selects `what`, for people, from the rows that violate its rule. */
const rules: readonly (readonly [sentence: (what: string) => string, select: string])[] = [
  [
    (what) => `More than one action is in progress for a mailbox: ${what}.`,
    `SELECT account || '/' || mailbox_id AS what FROM actions WHERE state = 'open' GROUP BY account, mailbox_id HAVING count(*) > 1`,
  ],
  [
    (what) => `The table run_rows has rows of a run that is not there: ${what}.`,
    'SELECT DISTINCT run_id AS what FROM run_rows WHERE NOT EXISTS (SELECT 1 FROM runs r WHERE r.id = run_id)',
  ],
];

export async function rowProblems(db: Db): Promise<readonly string[]> {
  const found: string[] = [];
  for (const { table, column } of jsonColumns) found.push(...(await unreadableRows(db, table, column)));
  for (const [sentence, select] of rules) {
    const { rows } = await sql<{ what: string }>`${sql.raw(select)} LIMIT ${sql.lit(namedAtMost)}`.execute(db);
    found.push(...rows.map(({ what }) => sentence(what)));
  }
  return found;
}

async function unreadableRows(db: Db, table: keyof Tables, column: string): Promise<readonly string[]> {
  const key = keyOf(table);
  const keyColumns = sql.join(key.map((name) => sql.ref(name)));
  const found: string[] = [];
  let after = sql`TRUE`;
  for (;;) {
    const { rows } = await sql<RowKey>`SELECT ${keyColumns}, ${sql.ref(column)} AS json FROM ${sql.table(table)}
      WHERE ${after} ORDER BY ${keyColumns} LIMIT ${sql.lit(rowsARead)}`.execute(db);
    for (const { json, ...at } of rows) {
      try {
        if (json !== null) parsed(String(json), table, at);
      } catch (error) {
        const { message } = error as DamagedRowError;
        const said = message.replace(" can't be read", ` can't be read: its column ${column} is damaged`);
        found.push(sentence(said));
      }
    }
    const last = rows.at(-1);
    if (!last || rows.length < rowsARead || found.length >= namedAtMost) return found.slice(0, namedAtMost);
    after = sql`(${keyColumns}) > (${sql.join(key.map((name) => last[name]))})`;
  }
}
