// The table of the browsers that signed in.
import type { Kysely } from 'kysely';
import type { Tables } from './tables.ts';

export async function sessionsTable({ schema }: Kysely<Tables>): Promise<void> {
  await schema
    .createTable('sessions')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('token', 'text', (column) => column.notNull())
    .addColumn('started_at', 'bigint', (column) => column.notNull())
    .addColumn('used_at', 'bigint', (column) => column.notNull())
    .execute();
  await schema.createIndex('sessions_of_token').on('sessions').columns(['token', 'used_at']).execute();
}
