// The store in a PostgreSQL database as a reader sees it beside a running daemon: nothing is locked, nothing can be written.
import { Kysely } from 'kysely';
import { nameOf, type PostgresPlace } from '../../core/store-failure.ts';
import { minuteMs } from '../../core/time.ts';
import type { ReadableDatabase } from '../database.ts';
import { StoreError } from '../failure.ts';
import { schemaOf, schemaVersion } from '../schema/migrations.ts';
import type { Db, Tables } from '../schema/tables.ts';
import { type SizesAsked, serverSizes } from '../sizes.ts';
import { rowProblems } from '../soundness.ts';
import { poolOf, reached, readerConfig } from './connecting.ts';
import { StoreDialect } from './dialect.ts';
import { damageSaid, postgresError } from './failure.ts';
import { hasStore, isReady } from './setup.ts';

const wholeTableMs = 10 * minuteMs;

/** Rejects with StoreError. */
export async function readPostgres(named: PostgresPlace): Promise<ReadableDatabase> {
  const place = await reached(named).catch((error: unknown) => Promise.reject(postgresError(named, error)));
  const reader = (withinMs?: number) =>
    new Kysely<Tables>({ dialect: new StoreDialect({ pool: poolOf(readerConfig(place, withinMs), 1) }) });
  const db = reader();
  /** For statements that read a whole table. */
  const patiently = async <Value>(read: (patient: Db) => Promise<Value>) => {
    const patient = reader(wholeTableMs);
    return read(patient).finally(() => patient.destroy());
  };
  return {
    db,
    sentence: (error: unknown) => postgresError(place, error),
    /** What a newer version added changes nothing for this one. */
    sizes: (asked: SizesAsked) => patiently((patient) => serverSizes(patient, asked)),
    // Its indexes are pg_amcheck's. What PostgreSQL can't read is not read further.
    problems: () =>
      patiently(rowProblems).catch((error: unknown) => {
        const said = damageSaid(place, error);
        if (said === null) throw error;
        return [`The database is damaged: ${said}.`];
      }),
    schema: async () => {
      if (!(await hasStore(db)))
        throw new StoreError(
          `There is no store at ${nameOf(place)}: check the configuration, or start the daemon with it once to create the store.`,
        );
      return (await isReady(db)) ? schemaVersion : schemaOf(db);
    },
  };
}
