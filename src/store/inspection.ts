// Size and soundness of a whole store, for commands. Both reads run in a process of their own, because they
// take a long time.
import { sql } from 'kysely';
import { sentence } from '../core/wording/explain.ts';
import type { DamagedRowError, RowKey } from './failure.ts';
import { sizeOf } from './file/place.ts';
import { parsed } from './rows.ts';
import { type Db, jsonColumns, keyOf, type Tables } from './schema/tables.ts';

export interface ReadableDatabase {
  readonly db: Db;
  readonly sentence: (error: unknown) => Error;
  readonly schema: () => Promise<number>;
  readonly sizes: () => Promise<StoreSizes>;
  readonly problems: () => Promise<readonly string[]>;
}

export interface TableSize {
  readonly table: string;
  readonly bytes: number;
  readonly rows: number;
}

export interface StoreSizes {
  readonly bytes: number;
  /** Null on PostgreSQL. */
  readonly walBytes: number | null;
  /** Bytes that are reused before the store grows. On PostgreSQL an estimate. */
  readonly freeBytes: number;
  readonly tables: readonly TableSize[];
}

/** Counts pages, not the file's size: pages that are only in the WAL belong to tables, too. */
export async function fileSizes(db: Db, file: string): Promise<StoreSizes> {
  const number = async (pragma: string) => {
    const { rows } = await sql<Record<string, number>>`PRAGMA ${sql.raw(pragma)}`.execute(db);
    return rows[0]?.[pragma] ?? 0;
  };
  const pageBytes = await number('page_size');
  const { rows } = await sql<{ table: string; bytes: number }>`
    SELECT s.tbl_name AS "table", sum(d.pgsize) AS bytes FROM dbstat d JOIN sqlite_schema s ON s.name = d.name
    WHERE d.aggregate = TRUE AND s.tbl_name NOT LIKE 'sqlite_%' GROUP BY 1 ORDER BY 2 DESC, 1`.execute(db);
  return {
    bytes: (await number('page_count')) * pageBytes,
    walBytes: sizeOf(`${file}-wal`),
    freeBytes: (await number('freelist_count')) * pageBytes,
    tables: await tableSizes(db, rows),
  };
}

export async function serverSizes(db: Db): Promise<StoreSizes> {
  const { rows } = await sql<{ table: string; bytes: number; dead: number }>`
    SELECT relname AS "table", pg_total_relation_size(relid) AS bytes,
      (pg_total_relation_size(relid) * n_dead_tup / greatest(n_live_tup + n_dead_tup, 1))::bigint AS dead
    FROM pg_stat_user_tables WHERE schemaname = current_schema() ORDER BY 2 DESC, 1`.execute(db);
  const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);
  return {
    bytes: sum(rows.map(({ bytes }) => bytes)),
    walBytes: null,
    freeBytes: sum(rows.map(({ dead }) => dead)),
    tables: await tableSizes(db, rows),
  };
}

async function tableSizes(db: Db, tables: readonly Omit<TableSize, 'rows'>[]): Promise<readonly TableSize[]> {
  const counted: TableSize[] = [];
  for (const { table, bytes } of tables) {
    const { rows } = await sql<{ count: number }>`SELECT count(*) AS count FROM ${sql.table(table)}`.execute(db);
    counted.push({ table, bytes, rows: Number(rows[0]?.count ?? 0) });
  }
  return counted;
}

// A sound store: readable JSON, and rows that are consistent with one another.

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
