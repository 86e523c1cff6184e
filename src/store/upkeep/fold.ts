// Rows that earlier versions wrote for each email sent become spans, a few rows a step.
import { type Insertable, type Kysely, type Selectable, sql } from 'kysely';
import { isSameSpan } from '../../model/decision.ts';
import type { Verdict } from '../../model/verdict.ts';
import { DamagedRowError } from '../failure.ts';
import { unfoldedKey } from '../schema/decision-spans.ts';
import { metaOf, setMeta } from '../schema/migrations.ts';
import { parsed } from '../schema/parsed.ts';
import { storedVerdict, verdictText } from '../schema/stored.ts';
import { daysText, storedDays } from '../schema/stored-days.ts';
import type { Tables } from '../schema/tables.ts';
import { rowsAStep } from './step.ts';

type Db = Kysely<Tables>;
type Row = Selectable<Tables['decisions']>;

/** The row before which all is folded, in the order of account, mailbox and id. */
interface Cursor {
  readonly account: string;
  readonly mailboxId: string;
  readonly id: number;
}

/** One step, within the caller's transaction; false when nothing is left to fold. */
export async function foldSome(trx: Db): Promise<boolean> {
  const cursor = await metaOf(trx, unfoldedKey);
  if (cursor === null) return false;
  const { account, mailboxId, id } = parsed<Cursor>(cursor, 'meta', { key: unfoldedKey });
  const rows = await trx
    .selectFrom('decisions')
    .selectAll()
    .where(sql<boolean>`(account, mailbox_id, id) >= (${account}, ${mailboxId}, ${id})`)
    .orderBy('account')
    .orderBy('mailbox_id')
    .orderBy('id')
    .limit(rowsAStep)
    .execute();
  for (const span of spansOf(rows.map(readOf))) await fold(trx, span);
  const last = rows.at(-1);
  if (last && rows.length === rowsAStep) {
    // The last span may go on: it is looked at again, as one row.
    const next: Cursor = { account: last.account, mailboxId: last.mailbox_id, id: last.id };
    await setMeta(trx, unfoldedKey, JSON.stringify(next));
    return true;
  }
  await trx.deleteFrom('meta').where('key', '=', unfoldedKey).execute();
  return false;
}

interface ReadRow {
  readonly row: Row;
  /** null: it can't be read, and stays as it is. */
  readonly verdict: Verdict | null;
}

function readOf(row: Row): ReadRow {
  try {
    return { row, verdict: storedVerdict(row.verdict, { id: row.id }) };
  } catch (error) {
    if (error instanceof DamagedRowError) return { row, verdict: null };
    throw error;
  }
}

type Span = readonly [ReadRow, ...ReadRow[]];

/** Consecutive rows of one mailbox that belong to one span. */
function spansOf(rows: readonly ReadRow[]): readonly Span[] {
  const spans: [ReadRow, ...ReadRow[]][] = [];
  for (const one of rows) {
    const span = spans.at(-1);
    if (span && continues(span.at(-1) ?? one, one)) span.push(one);
    else spans.push([one]);
  }
  return spans;
}

function continues(before: ReadRow, after: ReadRow): boolean {
  const isOfOne = before.row.account === after.row.account && before.row.mailbox_id === after.row.mailbox_id;
  return isOfOne && before.verdict !== null && after.verdict !== null && isSameSpan(before.verdict, after.verdict);
}

/** The last row stays, because the newest decision of a mailbox is the one with the largest id. */
async function fold(trx: Db, span: Span): Promise<void> {
  const [{ row: first, verdict: firstVerdict }] = span;
  const { row: last, verdict } = span.at(-1) ?? span[0];
  if (firstVerdict === null || verdict === null || (first === last && first.first_sent !== null)) return;
  const changing: Partial<Insertable<Tables['decisions']>> = {
    since: first.since,
    judged: span.reduce((sum, { row }) => sum + row.judged, 0),
    first_sent: first.first_sent ?? firstVerdict.sent,
    first_days: first.first_days ?? daysText(storedDays(first.days, { id: first.id })),
    verdict: verdictText(verdict),
    days: daysText(storedDays(last.days, { id: last.id })),
  };
  const merged = span.slice(0, -1).map(({ row }) => row.id);
  if (merged.length > 0) await trx.deleteFrom('decisions').where('id', 'in', merged).execute();
  await trx.updateTable('decisions').set(changing).where('id', '=', last.id).execute();
}
