// The migration that gives incidents their table: one row each, from its beginning to long after its end.
import type { Kysely } from 'kysely';
import type { Tables } from './tables.ts';

export async function incidents({ schema }: Kysely<Tables>): Promise<void> {
  await schema
    .createTable('incidents')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('began_at', 'bigint', (column) => column.notNull())
    .addColumn('ended_at', 'bigint')
    .addColumn('incident', 'text', (column) => column.notNull())
    .execute();
  await schema.createIndex('incidents_by_end').on('incidents').columns(['ended_at']).execute();
}
