// Whether a store is sound: the file as SQLite sees it, and the JSON in its rows. For a process of its own: it reads everything.
import { type Kysely, sql } from 'kysely';
import { failureOf } from '../failure.ts';
import type { Tables } from '../schema/tables.ts';

/** The columns that hold JSON. */
const jsonColumns: readonly (readonly [table: keyof Tables, column: string])[] = [
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
const namedAtMost = 20;

/** What is wrong, in sentences; empty when all is well. */
export async function problemsIn(db: Kysely<Tables>): Promise<readonly string[]> {
  const broken = await damageOf(db);
  // What SQLite can't find its way in is not read further.
  return broken.length > 0 ? broken.map((said) => `The file is damaged: ${said.trim()}.`) : unreadableRows(db);
}

/** In SQLite's words. */
async function damageOf(db: Kysely<Tables>): Promise<readonly string[]> {
  try {
    const check = sql<{ integrity_check: string }>`PRAGMA integrity_check(${sql.lit(namedAtMost)})`;
    const { rows } = await check.execute(db);
    return rows.map(({ integrity_check: said }) => said).filter((said) => said !== 'ok');
  } catch (error) {
    const { said, lasting } = failureOf('', error);
    if (!lasting) throw error;
    return [said];
  }
}

async function unreadableRows(db: Kysely<Tables>): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const [table, column] of jsonColumns) {
    const found = await sql<{ row: number }>`
      SELECT rowid AS "row" FROM ${sql.table(table)} WHERE NOT json_valid(${sql.ref(column)}) LIMIT ${sql.lit(namedAtMost)}`.execute(
      db,
    );
    for (const { row } of found.rows)
      problems.push(`A row of the table ${table} can't be read: its ${column} is not valid JSON (rowid = ${row}).`);
  }
  return problems;
}
