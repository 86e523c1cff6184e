// Whether a store in PostgreSQL is sound: every row is read, with its JSON, and rows fit one another. Its indexes are pg_amcheck's.
import type { Kysely } from 'kysely';
import type { PostgresPlace } from '../../core/store-failure.ts';
import type { Tables } from '../schema/tables.ts';
import { isReadable, jsonColumns, misfits, namedAtMost, unreadable } from '../soundness.ts';
import { DamagedDatabaseError } from './failure.ts';
import { readSnapshot } from './snapshot.ts';

/** What is wrong, in sentences; empty when all is well. */
export async function problemsIn(db: Kysely<Tables>, place: PostgresPlace): Promise<readonly string[]> {
  try {
    return [...(await unreadableRows(place)), ...(await misfits(db))];
  } catch (error) {
    // What PostgreSQL can't read is not read further.
    if (error instanceof DamagedDatabaseError) return [`The database is damaged: ${error.said}.`];
    throw error;
  }
}

async function unreadableRows(place: PostgresPlace): Promise<readonly string[]> {
  const problems = new Map<string, string[]>();
  const reads = jsonColumns.map(([table, column]) => ({
    table,
    columns: ['ctid', column],
    newestOnly: false,
  }));
  await readSnapshot(place, reads, ({ table, columns }, rows) => {
    const [, column = ''] = columns;
    const found = problems.get(`${table} ${column}`) ?? [];
    problems.set(`${table} ${column}`, found);
    for (const [row, json] of rows)
      if (json !== null && found.length < namedAtMost && !isReadable(String(json)))
        found.push(unreadable(table, column, `ctid = '${row}'`));
  });
  return [...problems.values()].flat();
}
