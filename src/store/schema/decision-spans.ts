// The schema's step to decisions as spans: a row is no longer written for each email that was sent.
import type { Kysely } from 'kysely';
import type { Tables } from './tables.ts';

/** In `meta` while rows of earlier versions are to be folded: as far as that has come. Absent afterwards. */
export const unfoldedKey = 'decisions_unfolded';

/** Rows of earlier versions are read on as they are, and folded while the daemon runs: there may be millions. */
export async function decisionSpans(db: Kysely<Tables>): Promise<void> {
  await db.schema.alterTable('decisions').addColumn('first_sent', 'bigint').execute();
  await db.schema.alterTable('decisions').addColumn('first_days', 'text').execute();
  const any = await db.selectFrom('decisions').select('id').limit(1).executeTakeFirst();
  const cursor = JSON.stringify({ account: '', mailboxId: '', id: 0 });
  if (any) await db.insertInto('meta').values({ key: unfoldedKey, value: cursor }).execute();
}
