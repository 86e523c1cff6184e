// The store in a PostgreSQL database as a reader sees it beside a running daemon: nothing is locked, nothing can be written.
import { Kysely } from 'kysely';
import type { PostgresPlace } from '../../model/store-place.ts';
import { schemaOf, schemaVersion } from '../schema/migrations.ts';
import type { Tables } from '../schema/tables.ts';
import { clientConfig, poolOf, reached, schema } from './connecting.ts';
import { StoreDialect } from './dialect.ts';
import { postgresError } from './failure.ts';
import { livingReplica } from './presence.ts';
import { isReady } from './setup.ts';

/** Rejects with StoreError. */
export async function readPostgres(named: PostgresPlace) {
  const place = await reached(named).catch((error: unknown) => Promise.reject(postgresError(named, error)));
  const options = `-c search_path=${schema} -c default_transaction_read_only=on`;
  const pool = poolOf({ ...clientConfig(place), ...(place.isPooled !== true && { options }) }, 1);
  const db = new Kysely<Tables>({ dialect: new StoreDialect({ pool }) });
  return {
    db,
    sentence: (error: unknown) => postgresError(place, error),
    guardian: () => livingReplica(db),
    /** What a newer version added changes nothing for this one. */
    schema: async () => ((await isReady(db)) ? schemaVersion : schemaOf(db)),
  };
}
