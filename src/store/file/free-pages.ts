// Gives space that was freed back to the disk, a few pages at a time: stores of earlier versions keep theirs until they are vacuumed.
import { type Kysely, sql } from 'kysely';
import type { Tables } from '../schema/tables.ts';

/** Each page of them is copied into the WAL. */
const bytesAStep = 256 * 1024;
/** So much stays for what is written next. */
const bytesKept = 1024 * 1024;

/** In `auto_vacuum`. */
const incremental = 2;

/** One step; false when nothing is left to give back. */
export async function freePages(trx: Kysely<Tables>): Promise<boolean> {
  const [mode] = (await sql<{ auto_vacuum: number }>`PRAGMA auto_vacuum`.execute(trx)).rows;
  const [free] = (await sql<{ freelist_count: number }>`PRAGMA freelist_count`.execute(trx)).rows;
  const [size] = (await sql<{ page_size: number }>`PRAGMA page_size`.execute(trx)).rows;
  const pagesOf = (bytes: number) => Math.ceil(bytes / (size?.page_size ?? 1));
  const spare = (free?.freelist_count ?? 0) - pagesOf(bytesKept);
  if (mode?.auto_vacuum !== incremental || spare <= 0) return false;
  const pagesAStep = pagesOf(bytesAStep);
  await sql`PRAGMA incremental_vacuum(${sql.lit(Math.min(pagesAStep, spare))})`.execute(trx);
  return spare > pagesAStep;
}
