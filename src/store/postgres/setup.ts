// Schema on PostgreSQL: the same migrations as on SQLite, in one transaction under a lock, and additions for
// PostgreSQL.

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
import { isNotOffered, isOldPrimary, newestAt, OldPrimaryError, schema, serverOf } from './connection.ts';

/** Quotes a name with other letters, which PostgreSQL would otherwise read as a different name. */
export function sqlName(name: string): string {
  return /^[a-z_][a-z0-9_$]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}

/** Statement that sets a timeout for the role. It affects connections that are opened later. */
export function settingRole({ user, database }: PostgresPlace, timeout: string, seconds: number): string {
  return `ALTER ROLE ${sqlName(user)} IN DATABASE ${sqlName(database)} SET ${timeout} = '${seconds}s';`;
}

const migrationLock = sql`SELECT pg_advisory_xact_lock(927336, 2)`;
const oldestKey = 'oldest_compatible';

export const migrationStepMs = 10 * minuteMs;

/** The timeout of the connection of `db` must allow for a migration step. */
export async function prepare(db: Db, place: PostgresPlace): Promise<void> {
  await refuseServer(db, place);
  if ((await hasStore(db)) && !(await isReady(db))) refuseNewer(await schemaOf(db));
  if (await hasLease(db)) return;
  await locked(db, (trx) => begin(trx, place));
}

async function begin(trx: Db, place: PostgresPlace): Promise<void> {
  // The schema is created only if it is missing, because the role may not have the right to create it.
  const { rows } = await sql`SELECT 1 FROM pg_namespace WHERE nspname = ${schema}`.execute(trx);
  if (rows.length === 0) await sql`CREATE SCHEMA ${sql.ref(schema)}`.execute(trx);
  await refuseForeign(trx, place);
  await addLease(trx);
}

/** Begins to use the store and takes this back, so that the server refuses what the role has no right to. */
export async function rehearse(db: Db, place: PostgresPlace): Promise<void> {
  const trx = await db.startTransaction().execute();
  try {
    if (await hasLease(trx)) await sql`UPDATE lease SET beat = beat WHERE FALSE`.execute(trx);
    else await begin(trx, place);
  } finally {
    await trx.rollback().execute();
  }
}

/** Leaves a newer compatible schema unchanged. */
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

export async function hasStore(db: Db): Promise<boolean> {
  const { rows } = await sql<{ there: boolean }>`
    SELECT to_regclass(${`${schema}.meta`}) IS NOT NULL AS there`.execute(db);
  return rows[0]?.there === true;
}

export async function isReady(db: Db): Promise<boolean> {
  if (!(await hasStore(db))) return false;
  const version = await schemaOf(db);
  const oldest = Number((await metaOf(db, oldestKey)) ?? version);
  return version === schemaVersion || (version > schemaVersion && oldest <= schemaVersion);
}

/** Throws StoreError, with one sentence, if the server can't hold a store. */
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
  if (await isBalanced(db))
    throw refuse(
      'Pgpool-II answers there and sends reads to standbys, which lag. Set load_balance_mode = off in pgpool.conf and restart Pgpool-II, or set store.url to the primary or to PgBouncer.',
    );
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

/** Pgpool-II answers this itself. The comment explains the error to readers of the log of PostgreSQL. */
const balancing = sql<{ load_balance_mode: string }>`
  PGPOOL SHOW load_balance_mode /* Warmwarden looks for Pgpool-II; elsewhere this is an error, and harmless */`;

/** Pgpool-II picks a server for each session by chance. disable_load_balance_on_write only helps a session that writes. */
async function isBalanced(db: Db): Promise<boolean> {
  try {
    const { rows } = await balancing.execute(db);
    return rows[0]?.load_balance_mode === 'on';
  } catch (error) {
    if (isNotOffered(error)) return false;
    throw error;
  }
}

async function refuseForeign(trx: Db, place: PostgresPlace): Promise<void> {
  const { rows } = await sql<{ table: string }>`
    SELECT tablename AS "table" FROM pg_tables WHERE schemaname = ${schema} ORDER BY 1`.execute(trx);
  const names = rows.map(({ table }) => table);
  if (names.length === 0 || names.includes('meta') || names.includes('lease')) return;
  const whose = `its schema ${schema} belongs to another program, with a table ${names[0]}`;
  throw new StoreError(`The store ${nameOf(place)} can't be used: ${whose}. Set store.url to another database.`);
}

async function addFunctions(trx: Db): Promise<void> {
  await sql`CREATE OR REPLACE FUNCTION json_extract(document text, path text) RETURNS text LANGUAGE sql IMMUTABLE
    AS $$ SELECT document::json ->> substr(path, 3) $$`.execute(trx);
}
