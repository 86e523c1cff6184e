// The store in a PostgreSQL database for a reader beside a running daemon: it locks nothing and can't write.

import { Kysely } from 'kysely';
import pg from 'pg';
import { nameOf, type PostgresPlace } from '../../core/store-failure.ts';
import { minuteMs } from '../../core/time.ts';
import { StoreError } from '../failure.ts';
import { type ReadableDatabase, rowProblems } from '../inspection.ts';
import { schemaOf, schemaVersion } from '../schema/migrations.ts';
import type { Tables } from '../schema/tables.ts';
import { clientConfig, poolOf, reached, readerConfig, StoreDialect, tolerant } from './connection.ts';
import { damageSaid, postgresError } from './failure.ts';
import { hasStore, isReady } from './setup.ts';

const wholeTableMs = 10 * minuteMs;

export async function readPostgres(named: PostgresPlace): Promise<ReadableDatabase> {
  const place = await reached(named).catch((error: unknown) => Promise.reject(postgresError(named, error)));
  const reader = (withinMs?: number) =>
    new Kysely<Tables>({ dialect: new StoreDialect({ pool: poolOf(readerConfig(place, withinMs), 1) }) });
  const db = reader();
  return {
    db,
    sentence: (error: unknown) => postgresError(place, error),
    // Indexes are not checked: pg_amcheck does this. The check ends at the first data that PostgreSQL can't read.
    problems: async () => {
      const patient = reader(wholeTableMs);
      try {
        return await rowProblems(patient);
      } catch (error) {
        const said = damageSaid(place, error);
        if (said === null) throw error;
        return [`The database is damaged: ${said}.`];
      } finally {
        await patient.destroy();
      }
    },
    schema: async () => {
      if (!(await hasStore(db)))
        throw new StoreError(
          `There is no store at ${nameOf(place)}: check the configuration, or start the daemon with it once to create the store.`,
        );
      return (await isReady(db)) ? schemaVersion : schemaOf(db);
    },
  };
}

// Rows of some tables in one snapshot, for a process that queries them with SQLite.

export interface TableRead {
  readonly table: string;
  readonly columns: readonly string[];
  /** True to read only the newest decision on each present mailbox. */
  readonly newestOnly: boolean;
}

const rowsAFetch = 500;

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

/** The names of table and columns come from Warmwarden's own code, and need no escaping. */
function selectOf({ table, columns, newestOnly }: TableRead): string {
  const listed = columns.map((name) => `t."${name}"`).join(', ');
  if (!newestOnly) return `SELECT ${listed} FROM "${table}" t`;
  return `SELECT ${listed} FROM mailboxes m CROSS JOIN LATERAL (
    SELECT * FROM "${table}" d WHERE d.account = m.account AND d.mailbox_id = m.mailbox_id ORDER BY d.id DESC LIMIT 1
  ) t WHERE m.left_at IS NULL`;
}
