// Whether a SELECT is one, asks only the views, and fits its recipe: compiled over empty tables, never run.

import type { DatabaseSync } from 'node:sqlite';
import { errorText } from '../core/nearest.ts';
import { openSandbox } from './sandbox.ts';

/** Columns that a run adds to the rows of a recipe with `do:`. */
export const stepColumns = ['operation', 'outcome', 'message'] as const;
/** What names the mailbox that an operation is about. */
const subjectColumns = ['account', 'mailbox_id'] as const;

/** The moment of the run, in ISO 8601: always there. */
export const nowParameter = 'now';

let emptySandbox: DatabaseSync | null = null;

/** Empty tables behind the views. One is enough for every check: nothing is run there. */
function sandboxOfChecks(): DatabaseSync {
  emptySandbox ??= openSandbox(null, { now: 0, accounts: [], nearLimitPpm: { usual: 0, others: {} } });
  return emptySandbox;
}

/** One sentence a mistake. */
export function checkSelect(select: string, parameters: readonly string[], does: boolean): readonly string[] {
  const bare = withoutTexts(select);
  if (!/^\s*(select|with|values)\b/i.test(bare)) return ['must be one SELECT'];
  const problems = parameterProblems(bare, parameters);
  let columns: readonly string[];
  try {
    const statement = sandboxOfChecks().prepare(select);
    // SQLite compiles the first statement and is silent about the rest.
    if (withoutTexts(select.slice(statement.sourceSQL.length)).trim() !== '')
      problems.push('must be one SELECT, not several');
    columns = statement.columns().map(({ name }) => name);
  } catch (error) {
    return [...problems, `SQLite says: ${sayable(error)}`];
  }
  const twice = columns.find((name, index) => columns.indexOf(name) !== index);
  if (twice !== undefined) problems.push(`two columns are called ${twice}: rename one with AS`);
  if (does) {
    const taken = stepColumns.filter((name) => columns.includes(name));
    if (taken.length > 0)
      problems.push(`the columns ${stepColumns.join(', ')} are added by do:, so ${taken[0]} is taken`);
    const missing = subjectColumns.filter((name) => !columns.includes(name));
    if (missing.length > 0)
      problems.push(`do: needs the columns account and mailbox_id; ${missing.join(' and ')} is missing`);
  }
  return problems;
}

/** SQLite's words without the names that openSandbox makes up, and without where the store is. */
export function sayable(error: unknown): string {
  const said = errorText(error);
  return said.replaceAll(/store_[0-9a-f]{32}[._]?|: file:\S*\?mode=ro/g, '');
}

function parameterProblems(bare: string, parameters: readonly string[]): string[] {
  const used = new Set<string>();
  const problems = new Set<string>();
  for (const [whole, name] of bare.matchAll(/(?<![\w:])(?:[:@$](\w+)|\?\d*)/g)) {
    if (name === undefined || !whole.startsWith(':')) problems.add(`write parameters as :name, not ${whole}`);
    else if (name !== nowParameter && !parameters.includes(name))
      problems.add(`:${name} is not a parameter of the recipe`);
    else used.add(name);
  }
  for (const name of parameters) if (!used.has(name)) problems.add(`the parameter ${name} is never used`);
  return [...problems];
}

/** The SQL with texts, quoted names and comments blanked out. */
function withoutTexts(sql: string): string {
  return sql.replace(/'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\]|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g, (text) =>
    text.startsWith('-') || text.startsWith('/') ? ' ' : "''",
  );
}
