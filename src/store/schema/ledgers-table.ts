// The table of what is known of each account's rate limit, for whoever guards the account next.
import type { Kysely } from 'kysely';
import type { Tables } from './tables.ts';

export async function ledgersTable({ schema }: Kysely<Tables>): Promise<void> {
  await schema
    .createTable('ledgers')
    .addColumn('account', 'text', (column) => column.primaryKey())
    .addColumn('ledger', 'text', (column) => column.notNull())
    .execute();
}
