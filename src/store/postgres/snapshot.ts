// Rows of some tables as they were at one moment, for a process that asks them with SQLite's words.
import pg from 'pg';
import type { PostgresPlace } from '../../core/store-failure.ts';
import { clientConfig, reached, tolerant } from './connecting.ts';
import { postgresError } from './failure.ts';

/** What is read of a table. */
export interface TableRead {
  readonly table: string;
  readonly columns: readonly string[];
  /** Of decisions: only the newest on each mailbox that is there. */
  readonly newestOnly: boolean;
}

const rowsAFetch = 500;

/** Hands the rows on in pieces, each row in the order of its columns; all are of one snapshot. Rejects with StoreError. */
export async function readSnapshot(
  place: PostgresPlace,
  reads: readonly TableRead[],
  take: (read: TableRead, rows: readonly (readonly unknown[])[]) => void,
): Promise<void> {
  const at = await reached(place).catch((error: unknown) => Promise.reject(postgresError(place, error)));
  const client = tolerant(new pg.Client(clientConfig(at)));
  try {
    await client.connect();
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    for (const read of reads) {
      await client.query(`DECLARE piece NO SCROLL CURSOR FOR ${selectOf(read)}`);
      for (;;) {
        const { rows } = await client.query({ text: `FETCH ${rowsAFetch} FROM piece`, rowMode: 'array' });
        take(read, rows);
        if (rows.length < rowsAFetch) break;
      }
      await client.query('CLOSE piece');
    }
    await client.query('COMMIT');
  } catch (error) {
    throw postgresError(at, error);
  } finally {
    await client.end().catch(() => {});
  }
}

/** Table and columns are words of ours. */
function selectOf({ table, columns, newestOnly }: TableRead): string {
  const listed = columns.map((name) => `t."${name}"`).join(', ');
  if (!newestOnly) return `SELECT ${listed} FROM "${table}" t`;
  return `SELECT ${listed} FROM mailboxes m CROSS JOIN LATERAL (
    SELECT * FROM "${table}" d WHERE d.account = m.account AND d.mailbox_id = m.mailbox_id ORDER BY d.id DESC LIMIT 1
  ) t WHERE m.left_at IS NULL`;
}
