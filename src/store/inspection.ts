// Size, growth and soundness of a whole store, for commands. Both reads run in a process of their own, because they
// take a long time.
import { sql } from 'kysely';
import { dayMs } from '../core/time.ts';
import { DamagedRowError, type RowKey } from './failure.ts';
import { sizeOf } from './file/place.ts';
import { parsed } from './rows.ts';
import { type Db, jsonColumns, keyOf, type Tables } from './schema/tables.ts';
import { oldRows, type UpkeepPlan } from './upkeep.ts';

export interface ReadableDatabase {
  readonly db: Db;
  readonly sentence: (error: unknown) => Error;
  readonly schema: () => Promise<number>;
  readonly sizes: (asked: UpkeepPlan) => Promise<StoreSizes>;
  readonly problems: () => Promise<readonly string[]>;
}

export interface TableSize {
  readonly table: string;
  readonly bytes: number;
  readonly rows: number;
  /** Growth over the last week, or null if the rows have no time or the store is too young. */
  readonly bytesADay: number | null;
  /** Rows past their retention: approximately the next to be deleted. */
  readonly old: { readonly rows: number; readonly bytes: number };
}

export interface StoreSizes {
  readonly bytes: number;
  /** Size of the write-ahead log beside the file, or null on PostgreSQL, where it belongs to the server. */
  readonly walBytes: number | null;
  /**
   * Part of `bytes` that is reused before the store grows. On PostgreSQL an estimate of the space of rows that are not
   * cleaned up yet.
   */
  readonly freeBytes: number;
  readonly tables: readonly TableSize[];
}

/**
 * Sizes of a store in a SQLite file, by SQLite's counts and not the file's size: pages that are only in the WAL belong
 * to tables, too.
 */
export async function fileSizes(db: Db, file: string, asked: UpkeepPlan): Promise<StoreSizes> {
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
    tables: await tableSizes(db, rows, asked),
  };
}

/** Sizes of a store in PostgreSQL, by the server's own counts, with an estimate of rows that are not cleaned up. */
export async function serverSizes(db: Db, asked: UpkeepPlan): Promise<StoreSizes> {
  const { rows } = await sql<{ table: string; bytes: number; dead: number }>`
    SELECT relname AS "table", pg_total_relation_size(relid) AS bytes,
      (pg_total_relation_size(relid) * n_dead_tup / greatest(n_live_tup + n_dead_tup, 1))::bigint AS dead
    FROM pg_stat_user_tables WHERE schemaname = current_schema() ORDER BY 2 DESC, 1`.execute(db);
  const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);
  return {
    bytes: sum(rows.map(({ bytes }) => bytes)),
    walBytes: null,
    freeBytes: sum(rows.map(({ dead }) => dead)),
    tables: await tableSizes(db, rows, asked),
  };
}

const createdAt: Readonly<Record<string, string>> = {
  ...{ decisions: 'since', changes: 'at', transitions: 'at', deliveries: 'created_at', mailboxes: 'first_seen_at' },
  ...{ actions: 'planned_at', operator_commands: 'at', runs: 'created_at' },
  run_rows: '(SELECT created_at FROM runs WHERE id = run_id)',
};

async function tableSizes(
  db: Db,
  tables: readonly Pick<TableSize, 'table' | 'bytes'>[],
  plan: UpkeepPlan,
): Promise<readonly TableSize[]> {
  const { now, retention } = plan;
  const runsBefore = sql.lit(now - retention.runsMs);
  const old = [
    ...Object.values(oldRows(plan)),
    { table: 'runs', isOld: sql`run IS NOT NULL AND created_at < ${runsBefore}` },
    { table: 'run_rows', isOld: sql`${sql.raw(createdAt['run_rows'] ?? '')} < ${runsBefore}` },
  ];
  const counted: CountedTable[] = [];
  for (const one of tables) {
    const conditions = old.filter(({ table }) => table === one.table).map(({ isOld }) => sql`(${isOld})`);
    const isOld = conditions.length === 0 ? sql`FALSE` : sql.join(conditions, sql` OR `);
    const at = sql.raw(createdAt[one.table] ?? 'NULL');
    const { rows } = await sql<RowCounts>`
      SELECT count(*) AS rows, count(*) FILTER (WHERE ${at} >= ${sql.lit(now - weekMs)}) AS recent,
        min(${at}) AS oldest, count(*) FILTER (WHERE ${isOld}) AS old FROM ${sql.table(one.table)} t`.execute(db);
    counted.push({ ...one, ...(rows[0] ?? { rows: 0, recent: 0, oldest: null, old: 0 }) });
  }
  const oldest = Math.min(now, ...counted.flatMap((one) => one.oldest ?? []));
  return counted.map((one) => sizeOfTable(one, Math.min(weekMs, now - oldest)));
}

const weekMs = 7 * dayMs;
/** A younger store has no reliable growth: it grows fast at first. */
const leastSpanMs = dayMs;

interface RowCounts {
  readonly rows: number;
  readonly recent: number;
  readonly oldest: number | null;
  readonly old: number;
}

type CountedTable = Pick<TableSize, 'table' | 'bytes'> & RowCounts;

/** `spanMs`: part of the last week in which the store existed. */
function sizeOfTable({ table, bytes, rows, recent, oldest, old }: CountedTable, spanMs: number): TableSize {
  const rowBytes = rows === 0 ? 0 : bytes / rows;
  const isKnown = oldest !== null && spanMs >= leastSpanMs;
  return {
    table,
    bytes,
    rows,
    bytesADay: isKnown ? Math.round((recent * rowBytes * dayMs) / spanMs) : null,
    old: { rows: old, bytes: Math.round(old * rowBytes) },
  };
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
    (what) => `The table command_mailboxes names a command that is not there: ${what}.`,
    `SELECT DISTINCT CAST(command_id AS text) AS what FROM command_mailboxes
      WHERE NOT EXISTS (SELECT 1 FROM operator_commands c WHERE c.id = command_id)`,
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

/** Reads a column page by page, in the order of the table's key. */
async function unreadableRows(db: Db, table: keyof Tables, column: string): Promise<readonly string[]> {
  const key = keyOf(table);
  const keyColumns = sql.join(key.map((name) => sql.ref(name)));
  const found: string[] = [];
  let after = sql`TRUE`;
  for (;;) {
    const { rows } = await sql<RowKey>`SELECT ${keyColumns}, ${sql.ref(column)} AS json FROM ${sql.table(table)}
      WHERE ${after} ORDER BY ${keyColumns} LIMIT ${sql.lit(rowsARead)}`.execute(db);
    for (const { json, ...at } of rows)
      if (json !== null && !isReadable(table, at, String(json)))
        found.push(unreadableRow(column, new DamagedRowError(table, at)));
    const last = rows.at(-1);
    if (!last || rows.length < rowsARead || found.length >= namedAtMost) return found.slice(0, namedAtMost);
    after = sql`(${keyColumns}) > (${sql.join(key.map((name) => last[name]))})`;
  }
}

function isReadable(table: keyof Tables, key: RowKey, json: string): boolean {
  try {
    parsed(json, table, key);
    return true;
  } catch {
    return false;
  }
}

const unreadableRow = (column: string, { message }: DamagedRowError) =>
  `${message.replace(/^a/, 'A').replace(" can't be read", ` can't be read: its column ${column} is damaged`)}.`;
