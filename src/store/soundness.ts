// Checks of a sound store, in any database: readable JSON, and rows that are consistent with one another. Runs in its
// own process, because it reads everything.
import { sql } from 'kysely';
import { DamagedRowError, type RowKey } from './failure.ts';
import { parsed, storedNames, storedStats } from './rows.ts';
import { keyOf } from './schema/baseline.ts';
import type { Db, Tables } from './schema/tables.ts';

/** Columns that hold JSON. */
const jsonColumns: readonly (readonly [table: keyof Tables, column: string])[] = [
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
  ['deliveries', 'alerts'],
  ['runs', 'run'],
  ['run_rows', 'rows'],
  ['ledgers', 'ledger'],
];

/** Largest number of problems that are named per kind. */
export const namedAtMost = 20;
const rowsARead = 200;

/** Rules that every transaction keeps. Each query selects `what`, for people, from the rows that violate its rule. */
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

/** Unreadable rows, and rows that are inconsistent with one another, in sentences. */
export async function rowProblems(db: Db): Promise<readonly string[]> {
  const found: string[] = [];
  for (const [table, column] of jsonColumns) found.push(...(await unreadableRows(db, table, column)));
  for (const [sentence, select] of rules) {
    const { rows } = await sql<{ what: string }>`${sql.raw(select)} LIMIT ${sql.lit(namedAtMost)}`.execute(db);
    found.push(...rows.map(({ what }) => sentence(what)));
  }
  return found;
}

/** Reads a column page by page, in the order of the table's key. */
async function unreadableRows(db: Db, table: keyof Tables, column: string): Promise<readonly string[]> {
  const key = keyOf(table);
  const keyColumns = sql.join(key.map((name) => sql.ref(name)));
  const found: string[] = [];
  let after = sql`TRUE`;
  for (;;) {
    const { rows } = await sql<RowKey>`SELECT ${keyColumns}, ${sql.ref(column)} AS json FROM ${sql.table(table)}
      WHERE ${after} ORDER BY ${keyColumns} LIMIT ${sql.lit(rowsARead)}`.execute(db);
    for (const { json, ...at } of rows)
      if (json !== null && !isReadable(table, at, String(json)))
        found.push(unreadableRow(column, new DamagedRowError(table, at)));
    const last = rows.at(-1);
    if (!last || rows.length < rowsARead || found.length >= namedAtMost) return found.slice(0, namedAtMost);
    after = sql`(${keyColumns}) > (${sql.join(key.map((name) => last[name]))})`;
  }
}

/** True if the daemon could parse the JSON. */
function isReadable(table: keyof Tables, key: RowKey, json: string): boolean {
  try {
    if (key['route'] === 'stats') storedStats(json, key);
    else if (table === 'deliveries') storedNames(json, String(key['id']));
    else parsed(json, table, key);
    return true;
  } catch {
    return false;
  }
}

const unreadableRow = (column: string, { message }: DamagedRowError) =>
  `${message.replace(/^a/, 'A').replace(" can't be read", ` can't be read: its column ${column} is damaged`)}.`;
