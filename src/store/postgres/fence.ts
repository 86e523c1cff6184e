// What keeps a replica that others took for dead from writing: a row of its own, which each of its transactions raises.
import { type Kysely, sql } from 'kysely';
import type { Scope } from '../../replicas/membership.ts';
import type { Tables } from '../schema/tables.ts';

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

/** Whether the tables of the replicas are there with all that this version writes. */
export async function hasReplicas(db: Db): Promise<boolean> {
  const { rows } = await sql`SELECT 1 FROM pg_attribute
    WHERE attrelid = to_regclass('replicas') AND attname = 'store_failure' AND NOT attisdropped`.execute(db);
  return rows.length > 0;
}

/** The tables of the replicas, once. The leases of versions that allowed one process give way: those can't use the store any more. */
export async function addReplicas(trx: Db): Promise<void> {
  const { schema } = trx;
  const { rows } = await sql<{ there: boolean }>`SELECT to_regclass('fences') IS NOT NULL AS there`.execute(trx);
  if (rows[0]?.there) {
    await sql`ALTER TABLE replicas ADD COLUMN IF NOT EXISTS store_failure text`.execute(trx);
    return;
  }
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
    .addColumn('store_failure', 'text')
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
}
