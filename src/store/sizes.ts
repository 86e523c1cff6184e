// Growth of each table of the store, and its rows past their retention. Runs in its own process, because it reads a
// large store for a long time.
import { sql } from 'kysely';
import { dayMs } from '../core/time.ts';
import { sizeOf } from './file/place.ts';
import type { Db } from './schema/tables.ts';
import { oldRows, type UpkeepPlan } from './upkeep.ts';

export interface TableSize {
  readonly table: string;
  /** Size with indexes. */
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
  /** Largest first. */
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

/** SQL expression of the time at which a row `t` was created, by table. */
const createdAt: Readonly<Record<string, string>> = {
  ...{ decisions: 'since', changes: 'at', transitions: 'at', deliveries: 'created_at', mailboxes: 'first_seen_at' },
  ...{ actions: 'planned_at', operator_commands: 'at', runs: 'created_at' },
  run_rows: '(SELECT created_at FROM runs WHERE id = run_id)',
};

/** Sizes of the given tables, in their order. */
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
  /** Rows of the last week. */
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
