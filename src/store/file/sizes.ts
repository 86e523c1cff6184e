// How large the store is, table by table, how fast it grows, and how much of it is past its retention. For a process of its own:
// on a large store it reads for long.
import { type Kysely, sql } from 'kysely';
import { auditRetentionMs, type Retention } from '../../model/retention.ts';
import { dayMs, type EpochMs } from '../../model/time.ts';
import type { Tables } from '../schema/tables.ts';
import { sizeOf } from './identity.ts';

export interface TableSize {
  readonly table: string;
  /** With its indexes. */
  readonly bytes: number;
  readonly rows: number;
  /** Of the last week, as far as the rows have a time. */
  readonly bytesADay: number | null;
  /** Past its retention: about what is freed next. */
  readonly old: { readonly rows: number; readonly bytes: number };
}

export interface StoreSizes {
  readonly bytes: number;
  readonly walBytes: number;
  /** Within the file, and used again before it grows. */
  readonly freeBytes: number;
  /** What is freed goes back to the disk by itself. */
  readonly shrinks: boolean;
  /** The largest first. */
  readonly tables: readonly TableSize[];
}

type Db = Kysely<Tables>;

/** In SQL: when a row came to be, and whether it is past its retention. */
interface Ages {
  readonly at: string;
  readonly isOld: string;
}

export async function sizesOf(
  db: Db,
  file: string,
  { now, retention }: { readonly now: EpochMs; readonly retention: Retention },
): Promise<StoreSizes> {
  const number = async (pragma: string) => {
    const { rows } = await sql<Record<string, number>>`PRAGMA ${sql.raw(pragma)}`.execute(db);
    return rows[0]?.[pragma] ?? 0;
  };
  const pageBytes = await number('page_size');
  const ages = agesAt(now, retention);
  const { rows } = await sql<{ table: string; bytes: number }>`
    SELECT s.tbl_name AS "table", sum(d.pgsize) AS bytes FROM dbstat d JOIN sqlite_schema s ON s.name = d.name
    WHERE d.aggregate = TRUE AND s.tbl_name NOT LIKE 'sqlite_%' GROUP BY 1 ORDER BY 2 DESC, 1`.execute(db);
  const tables: TableSize[] = [];
  for (const { table, bytes } of rows) tables.push(await sizeOfTable(db, { table, bytes }, ages[table], now));
  return {
    bytes: sizeOf(file),
    walBytes: sizeOf(`${file}-wal`),
    freeBytes: (await number('freelist_count')) * pageBytes,
    shrinks: (await number('auto_vacuum')) === 2,
    tables,
  };
}

/** The tables that history is in. */
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
/** A store that is younger grows so fast only at first. */
const leastSpanMs = dayMs;

async function sizeOfTable(
  db: Db,
  { table, bytes }: { readonly table: string; readonly bytes: number },
  ages: Ages = { at: 'NULL', isOld: 'FALSE' },
  now: EpochMs,
): Promise<TableSize> {
  const { at, isOld } = ages;
  const result = await sql<{ rows: number; recent: number | null; oldest: number | null; old: number | null }>`
    SELECT count(*) AS rows, sum(${sql.raw(at)} >= ${now - weekMs}) AS recent, min(${sql.raw(at)}) AS oldest,
      sum(${sql.raw(isOld)}) AS old FROM ${sql.table(table)}`.execute(db);
  const { rows = 0, recent = null, oldest = null, old = null } = result.rows[0] ?? {};
  const rowBytes = rows === 0 ? 0 : bytes / rows;
  const days = Math.max(leastSpanMs, Math.min(weekMs, now - (oldest ?? now))) / dayMs;
  return {
    table,
    bytes,
    rows,
    bytesADay: recent === null ? null : Math.round((recent * rowBytes) / days),
    old: { rows: old ?? 0, bytes: Math.round((old ?? 0) * rowBytes) },
  };
}
