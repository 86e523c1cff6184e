// Which mailboxes were written since a moment: each row knows the transaction that wrote it (xmin). No table has to say so, and no
// writer has to do more.
import { type Kysely, sql } from 'kysely';
import type { MailboxKeys, Mark } from '../database.ts';
import type { Tables } from '../schema/tables.ts';
import { nowMs } from './now.ts';

type Db = Kysely<Tables>;

/** The oldest transaction that is under way: what is written from now on is not older. */
export async function markNow(db: Db): Promise<Mark> {
  const { rows } = await sql<{ mark: string }>`SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS mark`.execute(
    db,
  );
  return rows[0]?.mark ?? '';
}

/** Of tables that keep their history, only the newest rows are read: this many, or this old. */
const newestIds = 2_000;
const newestMs = 24 * 3_600_000;

/**
 * Of these accounts. null: nobody can say, as after a failover that lost transactions. A verdict that was prolonged without an answer
 * is not found: whoever asks reads all from time to time.
 */
export async function writtenSince(
  db: Db,
  accounts: readonly string[],
  since: Mark,
): Promise<readonly MailboxKeys[] | null> {
  const names = [...accounts];
  const newest = (table: 'decisions' | 'changes') => sql`
    SELECT account, mailbox_id FROM ${sql.table(table)}
    WHERE id > (SELECT max(id) FROM ${sql.table(table)}) - ${newestIds} AND account = ANY(${names}) AND age(xmin) <= mark_age`;
  const { rows } = await sql<{ account: string | null; ids: readonly string[]; isAhead: boolean }>`
    WITH mark AS (SELECT age(${since}::xid8::xid) AS mark_age),
    written AS (
      SELECT account, mailbox_id FROM mailboxes, mark WHERE account = ANY(${names}) AND age(xmin) <= mark_age
      UNION SELECT account, mailbox_id FROM observations, mark WHERE account = ANY(${names}) AND age(xmin) <= mark_age
      UNION SELECT account, mailbox_id FROM actions, mark WHERE account = ANY(${names}) AND age(xmin) <= mark_age
        AND planned_at > ${nowMs} - ${newestMs}
      UNION (SELECT w.* FROM mark, LATERAL (${newest('decisions')}) w)
      UNION (SELECT w.* FROM mark, LATERAL (${newest('changes')}) w)
    )
    SELECT w.account, array_agg(w.mailbox_id) AS ids, mark_age < 0 AS "isAhead"
    FROM mark LEFT JOIN written w ON true GROUP BY w.account, mark_age`.execute(db);
  if (rows.some(({ isAhead }) => isAhead)) return null;
  return rows.flatMap(({ account, ids }) => (account === null ? [] : [{ account, ids }]));
}
