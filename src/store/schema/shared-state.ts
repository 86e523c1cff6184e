// What replicas on one database ask of one another, and how each of them notices what another changed.
import type { Kysely } from 'kysely';
import type { Tables } from './tables.ts';

/** What people change on any replica, and all replicas keep in memory. */
export const topics = ['writes', 'silences', 'breakers', 'alerts'] as const;
export type Topic = (typeof topics)[number];

export async function sharedState(db: Kysely<Tables>): Promise<void> {
  const { schema } = db;
  await schema
    .createTable('requests')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('target', 'text', (column) => column.notNull())
    .addColumn('asked_at', 'bigint', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .addColumn('asked', 'text', (column) => column.notNull())
    .addColumn('taken_by', 'text')
    .addColumn('outcome', 'text')
    .execute();
  const waiting = schema.createIndex('requests_not_taken').on('requests').columns(['asked_at', 'taken_by']);
  await waiting.where('taken_by', 'is', null).execute();
  await schema
    .createTable('revisions')
    .addColumn('topic', 'text', (column) => column.primaryKey())
    .addColumn('revision', 'bigint', (column) => column.notNull())
    .execute();
  await db
    .insertInto('revisions')
    .values(topics.map((topic) => ({ topic, revision: 0 })))
    .execute();
  await schema.alterTable('operator_commands').addColumn('replica', 'text').execute();
  await schema.alterTable('runs').addColumn('replica', 'text').execute();
}
