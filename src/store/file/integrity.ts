// Whether a store is sound: the file as SQLite sees it, and the JSON in its rows. For a process of its own: it reads everything.
import { type Kysely, sql } from 'kysely';
import { failureOf } from '../failure.ts';
import type { Tables } from '../schema/tables.ts';
import { jsonColumns, misfits, namedAtMost, unreadable } from '../soundness.ts';

/** What is wrong, in sentences; empty when all is well. */
export async function problemsIn(db: Kysely<Tables>): Promise<readonly string[]> {
  const broken = await damageOf(db);
  // What SQLite can't find its way in is not read further.
  if (broken.length > 0) return broken.map((said) => `The file is damaged: ${said.trim()}.`);
  return [...(await unreadableRows(db)), ...(await misfits(db))];
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
    const text = sql.ref(column);
    const found = await sql<{ row: number }>`
      SELECT rowid AS "row" FROM ${sql.table(table)}
      WHERE CASE WHEN json_valid(${text}) THEN json_type(${text}) NOT IN ('object', 'array') ELSE ${text} IS NOT NULL END
      LIMIT ${sql.lit(namedAtMost)}`.execute(db);
    for (const { row } of found.rows) problems.push(unreadable(table, column, `rowid = ${row}`));
  }
  return problems;
}
