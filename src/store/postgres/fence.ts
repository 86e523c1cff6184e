// What keeps a replica that others took for dead from writing: a row of its own, which each of its transactions raises.
import { type Kysely, sql } from 'kysely';
import type { Scope } from '../replicas/membership.ts';
import type { Tables } from '../schema/tables.ts';
import { nowMs } from './now.ts';

type Db = Kysely<Tables>;

/** The first statement of each transaction: its version after it. null: the replica is dead, or a scope is not its own. */
export async function raise(trx: Db, id: string, scopes: readonly Scope[]): Promise<number | null> {
  const own =
    scopes.length === 0
      ? sql`true`
      : sql`(SELECT count(*) FROM leases WHERE owner = ${id} AND scope = ANY(${[...scopes]})) = ${scopes.length}`;
  const { rows } = await sql<{ version: number }>`
    UPDATE fences SET version = version + 1 WHERE id = ${id} AND ${own} RETURNING version`.execute(trx);
  return rows[0]?.version ?? null;
}

/** As it is stored, once the server has done with a transaction whose connection was lost; null: the replica is dead. */
export async function versionOf(db: Db, id: string): Promise<number | null> {
  const { rows } = await sql<{ version: number }>`SELECT version FROM fences WHERE id = ${id} FOR UPDATE`.execute(db);
  return rows[0]?.version ?? null;
}

/** Whether the tables of the replicas are there with all that this version writes: what it added last stands for the rest. */
export async function hasReplicas(db: Db): Promise<boolean> {
  const { rows } = await sql<{ there: boolean }>`
    SELECT to_regclass('ended_replicas') IS NOT NULL AS there`.execute(db);
  return rows[0]?.there === true;
}

/** What came after the first version of the tables. Versions without it go on beside this one. */
async function addNewer(trx: Db): Promise<void> {
  await sql`ALTER TABLE replicas ADD COLUMN IF NOT EXISTS store_failure text`.execute(trx);
  await sql`ALTER TABLE replicas ADD COLUMN IF NOT EXISTS entered_at bigint NOT NULL
    DEFAULT ${nowMs}`.execute(trx);
  await sql`ALTER TABLE replicas ADD COLUMN IF NOT EXISTS replaces boolean NOT NULL DEFAULT false`.execute(trx);
  await sql`CREATE TABLE IF NOT EXISTS ended_replicas (id text PRIMARY KEY, name text NOT NULL, beat_at bigint NOT NULL)`.execute(
    trx,
  );
}

/** The tables of the replicas, once. The leases of versions that allowed one process give way: those can't use the store any more. */
export async function addReplicas(trx: Db): Promise<void> {
  const { schema } = trx;
  const { rows } = await sql<{ there: boolean }>`SELECT to_regclass('fences') IS NOT NULL AS there`.execute(trx);
  if (rows[0]?.there) return addNewer(trx);
  await schema.dropTable('leases').ifExists().execute();
  await schema
    .createTable('fences')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('version', 'bigint', (column) => column.notNull())
    .execute();
  await schema
    .createTable('replicas')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('version', 'text', (column) => column.notNull())
    .addColumn('started_at', 'bigint', (column) => column.notNull())
    .addColumn('beat', 'bigint', (column) => column.notNull())
    .addColumn('beat_at', 'bigint', (column) => column.notNull())
    .addColumn('config_digest', 'text', (column) => column.notNull())
    .addColumn('reload_failure', 'text')
    .addColumn('wants', 'text', (column) => column.notNull())
    .addColumn('alone', 'boolean', (column) => column.notNull().defaultTo(false))
    .execute();
  await schema
    .createTable('leases')
    .addColumn('scope', 'text', (column) => column.primaryKey())
    .addColumn('owner', 'text')
    .addColumn('given', 'boolean', (column) => column.notNull().defaultTo(false))
    .addColumn('offered_at', 'bigint')
    .execute();
  await addNewer(trx);
}
