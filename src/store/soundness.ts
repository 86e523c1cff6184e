// What a sound store has, whatever database it is in: JSON that can be read, and rows that fit one another.
import { type Kysely, sql } from 'kysely';
import { DamagedRowError, type RowKey } from './failure.ts';
import { rowsAPiece } from './pieces.ts';
import { readStats } from './schema/stored-stats.ts';
import type { Tables } from './schema/tables.ts';

/** The columns that hold JSON. */
export const jsonColumns: readonly (readonly [table: keyof Tables, column: string])[] = [
  ['mailboxes', 'memory'],
  ['observations', 'answer'],
  ['decisions', 'verdict'],
  ['decisions', 'days'],
  ['actions', 'action'],
  ['changes', 'change'],
  ['writes_off', 'off'],
  ['breakers', 'state'],
  ['alerts', 'alert'],
  ['announcements', 'announcement'],
  ['silences', 'silence'],
  ['incidents', 'incident'],
  ['transitions', 'transition'],
  ['settlements', 'settlement'],
  ['deliveries', 'alerts'],
  ['runs', 'run'],
  ['run_rows', 'rows'],
];

/** Of each kind so many are named. */
export const namedAtMost = 20;

/** `row`: how the database finds it. */
export function unreadable(table: string, column: string, row: string): string {
  return `A row of the table ${table} can't be read: its ${column} is not valid JSON (${row}).`;
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
  return [...found, ...(await damagedStats(db))];
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Statistics that are JSON, but not statistics: what is no JSON was named with the rest. */
async function damagedStats(db: Kysely<Tables>): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { answer, ...key } of everyStats(db)) {
    const error = failureOfStats(answer, key);
    if (error) found.push(`${error.message.replace(/^a/, 'A')}.`);
    if (found.length >= namedAtMost) break;
  }
  return found;
}

function failureOfStats(answer: string, key: RowKey): DamagedRowError | null {
  try {
    readStats(answer, key);
    return null;
  } catch (error) {
    if (!(error instanceof DamagedRowError)) throw error;
    return isJson(answer) ? error : null;
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
