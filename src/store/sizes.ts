// Growth of each table of the store, and its rows past their retention. Runs in its own process, because it reads a
// large store for a long time.
import { sql } from 'kysely';
import { auditRetentionMs, type Retention } from '../core/store-failure.ts';
import { dayMs, type EpochMs } from '../core/time.ts';
import { sizeOf } from './file/place.ts';
import type { Db } from './schema/tables.ts';

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

/** SQL expressions: the time at which a row was created, and whether it is past its retention. */
interface Ages {
  readonly at: string;
  readonly isOld: string;
}

/** Reference time, and the retention that defines old rows. */
export interface SizesAsked {
  readonly now: EpochMs;
  readonly retention: Retention;
}

/**
 * Sizes of a store in a SQLite file, by SQLite's counts and not the file's size: pages that are only in the WAL belong
 * to tables, too.
 */
export async function fileSizes(db: Db, file: string, asked: SizesAsked): Promise<StoreSizes> {
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
export async function serverSizes(db: Db, asked: SizesAsked): Promise<StoreSizes> {
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

/** Sizes of the given tables, in their order. */
async function tableSizes(
  db: Db,
  tables: readonly Pick<TableSize, 'table' | 'bytes'>[],
  { now, retention }: SizesAsked,
): Promise<readonly TableSize[]> {
  const ages = agesAt(now, retention);
  const counted: CountedTable[] = [];
  for (const one of tables) counted.push({ ...one, ...(await countsOf(db, one.table, ages[one.table], now)) });
  const oldest = Math.min(now, ...counted.flatMap((one) => one.oldest ?? []));
  return counted.map((one) => sizeOfTable(one, Math.min(weekMs, now - oldest)));
}

/** Ages of the tables with history. */
function agesAt(now: EpochMs, retention: Retention): Readonly<Record<string, Ages>> {
  const before = (ms: number) => String(now - ms);
  const sentBefore = before(retention.deliveriesMs);
  const auditBefore = before(auditRetentionMs(retention));
  const departed = `(SELECT left_at FROM mailboxes m WHERE m.account = observations.account AND m.mailbox_id = observations.mailbox_id)`;
  return {
    decisions: { at: 'since', isOld: `until < ${before(retention.decisionsMs)}` },
    changes: { at: 'at', isOld: `at < ${before(retention.changesMs)}` },
    transitions: { at: 'at', isOld: `notified = 1 AND at < ${sentBefore}` },
    deliveries: { at: 'created_at', isOld: `state = 'sent' AND settled_at < ${sentBefore}` },
    observations: {
      at: 'NULL',
      isOld: `${departed} < CASE route WHEN 'mailboxes' THEN ${before(retention.departedMs)} ELSE ${before(retention.observationsMs)} END`,
    },
    mailboxes: { at: 'first_seen_at', isOld: `left_at < ${before(retention.departedMs)}` },
    actions: { at: 'planned_at', isOld: `planned_at < ${auditBefore}` },
    operator_commands: { at: 'at', isOld: `at < ${auditBefore}` },
    runs: { at: 'created_at', isOld: `run IS NOT NULL AND created_at < ${before(retention.runsMs)}` },
    run_rows: {
      at: '(SELECT created_at FROM runs WHERE id = run_id)',
      isOld: `(SELECT created_at FROM runs WHERE id = run_id) < ${before(retention.runsMs)}`,
    },
  };
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

async function countsOf(
  db: Db,
  table: string,
  { at, isOld }: Ages = { at: 'NULL', isOld: 'FALSE' },
  now: EpochMs,
): Promise<RowCounts> {
  const result = await sql<RowCounts>`
    SELECT count(*) AS rows, count(*) FILTER (WHERE ${sql.raw(at)} >= ${sql.lit(now - weekMs)}) AS recent,
      min(${sql.raw(at)}) AS oldest, count(*) FILTER (WHERE ${sql.raw(isOld)}) AS old FROM ${sql.table(table)}`.execute(
    db,
  );
  return result.rows[0] ?? { rows: 0, recent: 0, oldest: null, old: 0 };
}

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
