// How large a store in a SQLite file is.
import { type Kysely, sql } from 'kysely';
import type { Tables } from '../schema/tables.ts';
import { type SizesAsked, type StoreSizes, tableSizes } from '../sizes.ts';
import { sizeOf } from './place.ts';

/** By SQLite's counts, not the file's size: pages that are only in the WAL so far belong to tables, too. */

export async function sizesOf(db: Kysely<Tables>, file: string, asked: SizesAsked): Promise<StoreSizes> {
  const number = async (pragma: string) => {
    const { rows } = await sql<Record<string, number>>`PRAGMA ${sql.raw(pragma)}`.execute(db);
    return rows[0]?.[pragma] ?? 0;
  };
  const pageBytes = await number('page_size');
  const pages = await number('page_count');
  const { rows } = await sql<{ table: string; bytes: number }>`
    SELECT s.tbl_name AS "table", sum(d.pgsize) AS bytes FROM dbstat d JOIN sqlite_schema s ON s.name = d.name
    WHERE d.aggregate = TRUE AND s.tbl_name NOT LIKE 'sqlite_%' GROUP BY 1 ORDER BY 2 DESC, 1`.execute(db);
  return {
    bytes: pages * pageBytes,
    walBytes: sizeOf(`${file}-wal`),
    freeBytes: (await number('freelist_count')) * pageBytes,
    shrinks: (await number('auto_vacuum')) === 2,
    tables: await tableSizes(db, rows, asked),
  };
}
