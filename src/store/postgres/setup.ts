// The schema on PostgreSQL: the same migrations as on SQLite, all in one transaction under a lock, and what only PostgreSQL needs.

import { sql } from 'kysely';
import { nameOf, type PostgresPlace } from '../../core/store-failure.ts';
import { minuteMs } from '../../core/time.ts';
import { StoreError } from '../failure.ts';
import {
  metaOf,
  migrate,
  oldestCompatible,
  refuseNewer,
  schemaOf,
  schemaVersion,
  setMeta,
} from '../schema/migrations.ts';
import type { Db } from '../schema/tables.ts';
import { schema } from './connection.ts';
import { isOldPrimary, newestAt, OldPrimaryError, serverOf } from './reach.ts';

// How a name of the configuration is written in a statement that people are to run.

/** A name with other letters needs quotes: without them, PostgreSQL reads another name. */
export function sqlName(name: string): string {
  return /^[a-z_][a-z0-9_$]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}

/** The statement that sets a timeout for the role. It counts for connections that are opened from then on. */
export function settingRole({ user, database }: PostgresPlace, timeout: string, seconds: number): string {
  return `ALTER ROLE ${sqlName(user)} IN DATABASE ${sqlName(database)} SET ${timeout} = '${seconds}s';`;
}

/** Of the advisory lock that migrations hold. */
const migrationLock = sql`SELECT pg_advisory_xact_lock(927336, 2)`;
const oldestKey = 'oldest_compatible';

/** How long one step of a migration may take, and the wait for another process that is at it. */
export const migrationStepMs = 10 * minuteMs;

/**
 * Refuses a server or a store that this version can't use, and adds the tables of the lease. `db`: its connection waits for an
 * answer as long as a step of a migration may take.
 */
export async function prepare(db: Db, place: PostgresPlace): Promise<void> {
  await refuseServer(db, place);
  if ((await hasStore(db)) && !(await isReady(db))) refuseNewer(await schemaOf(db));
  if (await hasLease(db)) return;
  await locked(db, async (trx) => {
    // A role that may not create a schema need not do so where it exists.
    const { rows } = await sql`SELECT 1 FROM pg_namespace WHERE nspname = ${schema}`.execute(trx);
    if (rows.length === 0) await sql`CREATE SCHEMA ${sql.ref(schema)}`.execute(trx);
    await refuseForeign(trx, place);
    await addLease(trx);
  });
}

/** Brings the schema to this version, in the active process. A newer one that fits is left as it is. */
export async function upgrade(db: Db): Promise<void> {
  if (await isReady(db)) return;
  await locked(db, async (trx) => {
    await addFunctions(trx);
    await migrate(trx, (step) => step(trx));
    await setMeta(trx, oldestKey, String(oldestCompatible));
  });
}

async function locked(db: Db, work: (trx: Db) => Promise<void>): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await sql`SET LOCAL statement_timeout = ${sql.lit(migrationStepMs)}`.execute(trx);
    await sql`SET LOCAL lock_timeout = ${sql.lit(migrationStepMs)}`.execute(trx);
    await migrationLock.execute(trx);
    await work(trx);
  });
}

/** The tables of the lease, once. */
async function addLease(trx: Db): Promise<void> {
  await sql`CREATE TABLE IF NOT EXISTS lease (one boolean PRIMARY KEY DEFAULT true CHECK (one), fence bigint NOT NULL, holder text,
    version text NOT NULL, beat bigint NOT NULL, beat_at bigint NOT NULL)`.execute(trx);
  await sql`CREATE TABLE IF NOT EXISTS fence (number bigint PRIMARY KEY, version bigint NOT NULL)`.execute(trx);
  await sql`INSERT INTO lease (fence, version, beat, beat_at) VALUES (0, '', 0, 0) ON CONFLICT DO NOTHING`.execute(trx);
}

export async function hasLease(db: Db): Promise<boolean> {
  const { rows } = await sql<{ there: boolean }>`SELECT to_regclass('fence') IS NOT NULL AS there`.execute(db);
  return rows[0]?.there === true;
}

/** Whether any version has created it. */
export async function hasStore(db: Db): Promise<boolean> {
  const { rows } = await sql<{ there: boolean }>`
    SELECT to_regclass(${`${schema}.meta`}) IS NOT NULL AS there`.execute(db);
  return rows[0]?.there === true;
}

/** Whether this version can use the store as it is. */
export async function isReady(db: Db): Promise<boolean> {
  if (!(await hasStore(db))) return false;
  const version = await schemaOf(db);
  const oldest = Number((await metaOf(db, oldestKey)) ?? version);
  return version === schemaVersion || (version > schemaVersion && oldest <= schemaVersion);
}

/** Throws StoreError, with one sentence, for a server that can't keep a store. */
export async function refuseServer(db: Db, place: PostgresPlace): Promise<void> {
  const { rows } = await sql<{ version: number; standby: boolean; reading: boolean; encoding: string; path: string }>`
    SELECT current_setting('server_version_num')::int AS version, pg_is_in_recovery() AS standby,
      current_setting('default_transaction_read_only')::boolean AS reading, current_setting('server_encoding') AS encoding, current_setting('search_path') AS path`.execute(
    db,
  );
  const [server] = rows;
  const refuse = (why: string) => new StoreError(`The store ${nameOf(place)} can't be used: ${why}`);
  if (server && server.version < 140_000) throw refuse('PostgreSQL 14 or newer is needed.');
  if (server?.standby) throw refuse('it is a standby, which is read-only. Set store.url to the primary.');
  if (server?.reading)
    throw refuse(
      'default_transaction_read_only is on. Set it to off where it was set: for the server, with ALTER DATABASE, or with ALTER ROLE.',
    );
  if (server && server.encoding !== 'UTF8')
    throw refuse(`its encoding is ${server.encoding}. Create the database with ENCODING 'UTF8'.`);
  const at = await serverOf((text) => sql.raw(text).execute(db));
  const newest = newestAt(place);
  if (typeof at !== 'string' && isOldPrimary(at, newest)) throw new OldPrimaryError(place, at, newest);
  const { user, database } = place;
  const first = (server?.path ?? '').split(',')[0]?.trim();
  if (first !== schema && !(first === '"$user"' && user === schema))
    throw refuse(
      `a connection pooler answers there and drops the search path. Run ALTER ROLE ${sqlName(user)} IN DATABASE ${sqlName(database)} SET search_path = ${schema}; and RECONNECT in the pooler.`,
    );
}

/** Throws StoreError where the schema is somebody else's. */
export async function refuseForeign(trx: Db, place: PostgresPlace): Promise<void> {
  const { rows } = await sql<{ table: string }>`
    SELECT tablename AS "table" FROM pg_tables WHERE schemaname = ${schema} ORDER BY 1`.execute(trx);
  const names = rows.map(({ table }) => table);
  if (names.length === 0 || names.includes('meta') || names.includes('lease')) return;
  const whose = `its schema ${schema} belongs to another program, with a table ${names[0]}`;
  throw new StoreError(`The store ${nameOf(place)} can't be used: ${whose}. Set store.url to another database.`);
}

/** SQLite's word for reading a value out of JSON. */
async function addFunctions(trx: Db): Promise<void> {
  await sql`CREATE OR REPLACE FUNCTION json_extract(document text, path text) RETURNS text LANGUAGE sql IMMUTABLE
    AS $$ SELECT document::json ->> substr(path, 3) $$`.execute(trx);
}
