// What a sound store has, whatever database it is in: JSON that can be read, and rows that fit one another.
import { type Kysely, sql } from 'kysely';
import { DamagedRowError } from './failure.ts';
import { rowsAPiece } from './pieces.ts';
import { storedNames } from './schema/stored.ts';
import { readStats } from './schema/stored-stats.ts';
import type { Tables } from './schema/tables.ts';

/** The columns that hold JSON. */
export const jsonColumns: readonly (readonly [table: keyof Tables, column: string])[] = [
  ['mailboxes', 'memory'],
  ['observations', 'answer'],
  ['decisions', 'verdict'],
  ['decisions', 'days'],
  ['decisions', 'first_days'],
  ['actions', 'action'],
  ['changes', 'change'],
  ['writes_off', 'off'],
  ['breakers', 'head'],
  ['breaker_entries', 'entry'],
  ['alerts', 'alert'],
  ['announcements', 'announcement'],
  ['silences', 'silence'],
  ['incidents', 'incident'],
  ['transitions', 'transition'],
  ['settlements', 'settlement'],
  ['deliveries', 'alerts'],
  ['runs', 'run'],
  ['run_rows', 'rows'],
  ['ledgers', 'ledger'],
];

/** Of each kind so many are named. */
export const namedAtMost = 20;

/** `row`: how the database finds it. */
export function unreadable(table: string, column: string, row: string): string {
  return `A row of the table ${table} can't be read: its column ${column} is damaged (${row}).`;
}

/** Each selects `what`, for people, where a rule is broken that every transaction keeps. */
const rules: readonly (readonly [sentence: (what: string) => string, select: string])[] = [
  [
    (what) => `More than one action is in progress for a mailbox: ${what}.`,
    `SELECT account || '/' || mailbox_id AS what FROM actions WHERE state = 'open' GROUP BY account, mailbox_id HAVING count(*) > 1`,
  ],
  [
    (what) => `The table command_mailboxes names a command that is not there: ${what}.`,
    `SELECT DISTINCT CAST(command_id AS text) AS what FROM command_mailboxes
      WHERE NOT EXISTS (SELECT 1 FROM operator_commands c WHERE c.id = command_id)`,
  ],
  [
    (what) => `The table run_rows has rows of a run that is not there: ${what}.`,
    'SELECT DISTINCT run_id AS what FROM run_rows WHERE NOT EXISTS (SELECT 1 FROM runs r WHERE r.id = run_id)',
  ],
];

/** Rows that do not fit one another, in sentences. */
export async function misfits(db: Kysely<Tables>): Promise<readonly string[]> {
  const found: string[] = [];
  for (const [sentence, select] of rules) {
    const { rows } = await sql<{ what: string }>`${sql.raw(select)} LIMIT ${sql.lit(namedAtMost)}`.execute(db);
    found.push(...rows.map(({ what }) => sentence(what)));
  }
  const stats = await refused(everyStats(db), ({ answer, ...key }) => readStats(answer, key));
  const names = await refused(everyDelivery(db), ({ answer, id }) => storedNames(answer, id));
  return [...found, ...stats, ...names];
}

/** Whether a text is JSON of an object or a list, as every column of JSON is. */
export function isReadable(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null;
  } catch {
    return false;
  }
}

/** Rows that reading refuses, although they hold JSON: what holds none was named with the rest. */
async function refused<Row extends { readonly answer: string }>(
  rows: AsyncIterable<Row>,
  read: (row: Row) => unknown,
): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const row of rows) {
    const error = refusalOf(() => read(row));
    if (error && isReadable(row.answer)) found.push(`${error.message.replace(/^a/, 'A')}.`);
    if (found.length >= namedAtMost) break;
  }
  return found;
}

function refusalOf(read: () => unknown): DamagedRowError | null {
  try {
    read();
    return null;
  } catch (error) {
    if (error instanceof DamagedRowError) return error;
    throw error;
  }
}

/** What each message is about, a page at a time, as `answer`. */
async function* everyDelivery(db: Kysely<Tables>) {
  const names = db
    .selectFrom('deliveries')
    .select(['id', 'alerts as answer'])
    .where('alerts', '<>', '[]')
    .orderBy('id')
    .limit(rowsAPiece);
  let page = await names.execute();
  for (;;) {
    yield* page;
    const last = page.at(-1);
    if (!last || page.length < rowsAPiece) return;
    page = await names.where('id', '>', last.id).execute();
  }
}

/** A page of rows at a time, in the order of their key. */
async function* everyStats(db: Kysely<Tables>) {
  const stats = db
    .selectFrom('observations')
    .select(['account', 'mailbox_id', 'route', 'answer'])
    .where('route', '=', 'stats')
    .orderBy('account')
    .orderBy('mailbox_id')
    .limit(rowsAPiece);
  let page = await stats.execute();
  for (;;) {
    yield* page;
    const last = page.at(-1);
    if (!last || page.length < rowsAPiece) return;
    page = await stats.where(sql<boolean>`(account, mailbox_id) > (${last.account}, ${last.mailbox_id})`).execute();
  }
}
