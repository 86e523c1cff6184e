// The schema's step that gives each entry of a circuit breaker a row of its own (store/breakers.ts).
import { createHash } from 'node:crypto';
import type { Kysely } from 'kysely';
import { inPieces, lastOfEach } from '../pieces.ts';
import type { Tables } from './tables.ts';

/** The column gets another name: a replica of an earlier version, which knows nothing of the rows, can't move a breaker any more. */
export async function breakerEntries(db: Kysely<Tables>): Promise<void> {
  const { schema } = db;
  const table = () => schema.alterTable('breakers');
  await table().renameColumn('state', 'head').execute();
  await table()
    .addColumn('digest', 'text', (column) => column.notNull().defaultTo('none'))
    .execute();
  await table()
    .addColumn('places', 'bigint', (column) => column.notNull().defaultTo(0))
    .execute();
  await schema
    .createTable('breaker_entries')
    .addColumn('api', 'text', (column) => column.notNull())
    .addColumn('key', 'text', (column) => column.notNull())
    .addColumn('place', 'bigint', (column) => column.notNull())
    .addColumn('entry', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('breaker_entries_key', ['api', 'key'])
    .execute();
  for (const { api, head: state } of await db.selectFrom('breakers').select(['api', 'head']).execute()) {
    const { entries, ...rest } = stateIn(state);
    // Damaged: who loads it names it.
    if (!entries) continue;
    const rows = lastOfEach(entries, ({ key }) => key).map((entry, index) => ({
      ...{ api, key: entry.key, place: index + 1, entry: JSON.stringify(entry) },
    }));
    await inPieces(rows, (some) => db.insertInto('breaker_entries').values(some).execute());
    const digest = createHash('sha256').update(state).digest('hex');
    const changed = { head: JSON.stringify(rest), digest, places: rows.length };
    await db.updateTable('breakers').set(changed).where('api', '=', api).execute();
  }
}

function stateIn(text: string): { readonly entries?: readonly { readonly key: string }[] } {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}
