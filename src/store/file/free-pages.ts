// Gives space that was freed back to the disk, a few pages at a time: stores of earlier versions keep theirs until they are vacuumed.
import { type Kysely, sql } from 'kysely';
import type { Tables } from '../schema/tables.ts';

/** A page has 4 KB, and each is copied into the WAL. */
const pagesAStep = 64;
/** So many stay for what is written next. */
const pagesKept = 256;

/** In `auto_vacuum`. */
const incremental = 2;

/** One step; false when nothing is left to give back. */
export async function freePages(trx: Kysely<Tables>): Promise<boolean> {
  const [mode] = (await sql<{ auto_vacuum: number }>`PRAGMA auto_vacuum`.execute(trx)).rows;
  const [free] = (await sql<{ freelist_count: number }>`PRAGMA freelist_count`.execute(trx)).rows;
  const spare = (free?.freelist_count ?? 0) - pagesKept;
  if (mode?.auto_vacuum !== incremental || spare <= 0) return false;
  await sql`PRAGMA incremental_vacuum(${sql.lit(Math.min(pagesAStep, spare))})`.execute(trx);
  return spare > pagesAStep;
}
