// The time of the PostgreSQL server, in a statement.
import { sql } from 'kysely';

/** Epoch milliseconds, for a statement that is a text. */
export const nowText = '(extract(epoch from clock_timestamp()) * 1000)::bigint';

/** The same for Kysely. */
export const nowMs = sql.raw<number>(nowText);
