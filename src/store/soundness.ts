// What a sound store has, whatever database it is in: JSON that can be read, and rows that fit one another.
import { type Kysely, sql } from 'kysely';
import { DamagedRowError } from './failure.ts';
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

/** Statistics are JSON with a text of their own in it. */
async function damagedStats(db: Kysely<Tables>): Promise<readonly string[]> {
  const columns = ['account', 'mailbox_id', 'route', 'answer'] as const;
  const rows = await db.selectFrom('observations').select(columns).where('route', '=', 'stats').execute();
  const found: string[] = [];
  for (const { answer, ...key } of rows) {
    try {
      readStats(answer, key);
    } catch (error) {
      if (!(error instanceof DamagedRowError)) throw error;
      found.push(`${error.message.replace(/^a/, 'A')}.`);
      if (found.length >= namedAtMost) break;
    }
  }
  return found;
}
