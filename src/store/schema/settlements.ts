// The schema's step that lets a storm's notifications be settled in pieces (settling.ts).
import type { Kysely } from 'kysely';
import type { Tables } from './tables.ts';

export async function settlements({ schema }: Kysely<Tables>): Promise<void> {
  await schema
    .createTable('settlements')
    .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
    .addColumn('settlement', 'text')
    .execute();
}
