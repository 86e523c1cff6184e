// The schema's step that finds a mailbox that left by its address: one that is back may have another id.
import { type Kysely, sql } from 'kysely';
import type { Tables } from './tables.ts';

/** An address as the index has it: the database makes only the letters of ASCII small. */
export const addressColumn = sql<string>`lower("email")`;

export async function departedByAddress({ schema }: Kysely<Tables>): Promise<void> {
  const index = schema.createIndex('mailboxes_departed').on('mailboxes').column('account').expression(addressColumn);
  await index.where(sql.ref('left_at'), 'is not', null).execute();
}
