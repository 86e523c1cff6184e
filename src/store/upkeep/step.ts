// A walk over the old rows of a table, a few at a time: each step is a transaction of its own and says where the next begins.
import type { Kysely } from 'kysely';
import type { Tables } from '../schema/tables.ts';

export type Db = Kysely<Tables>;

/** The key of the row that was looked at last. */
export type Cursor = readonly (string | number)[];

export interface Walk {
  /** What it forgets, for the log. */
  readonly what: string;
  /** Before the first row. */
  readonly first: Cursor;
  /** Forgets some rows after the cursor; null when it has come to the end. */
  readonly step: (trx: Db, after: Cursor) => Promise<Cursor | null>;
}

/** A millisecond or two of CPU. */
export const rowsAStep = 50;
