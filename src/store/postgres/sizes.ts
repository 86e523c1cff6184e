// How large a store in a PostgreSQL database is.
import { type Kysely, sql } from 'kysely';
import type { Tables } from '../schema/tables.ts';
import { type SizesAsked, type StoreSizes, tableSizes } from '../sizes.ts';
import { schema } from './connecting.ts';

/** By the server's own counts; of rows that are not cleaned up it has an estimate. */
export async function sizesOf(db: Kysely<Tables>, asked: SizesAsked): Promise<StoreSizes> {
  const { rows } = await sql<{ table: string; bytes: number; dead: number }>`
    SELECT relname AS "table", pg_total_relation_size(relid) AS bytes,
      (pg_total_relation_size(relid) * n_dead_tup / greatest(n_live_tup + n_dead_tup, 1))::bigint AS dead
    FROM pg_stat_user_tables WHERE schemaname = ${schema} ORDER BY 2 DESC, 1`.execute(db);
  const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);
  return {
    bytes: sum(rows.map(({ bytes }) => bytes)),
    walBytes: null,
    freeBytes: sum(rows.map(({ dead }) => dead)),
    shrinks: null,
    tables: await tableSizes(db, rows, asked),
  };
}
