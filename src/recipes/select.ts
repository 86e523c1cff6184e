// A recipe's SELECT: checked over empty tables, and run in a child process that is killed at its time limit.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import type { Cell } from '../core/recipe.ts';
import type { StorePlace } from '../core/store-failure.ts';
import type { RowChunk } from '../store/runs.ts';
import { openSandbox, type ProgramFacts, sayable } from './sandbox.ts';

export interface SelectJob {
  readonly place: StorePlace;
  readonly select: string;
  /** Names are without the colon. */
  readonly parameters: Readonly<Record<string, Cell>>;
  /** Names of the parameters that are whole numbers: INTEGER in SQLite. */
  readonly integers: readonly string[];
  readonly facts: ProgramFacts;
  readonly maxRows: number;
  readonly maxBytes: number;
}

export interface SelectRequest extends SelectJob {
  readonly timeLimitMs: number;
  readonly signal: AbortSignal;
  /** The next chunk is read when this resolves. */
  readonly onRows: (chunk: RowChunk, columns: readonly string[]) => Promise<void>;
}

export interface SelectEnd {
  readonly columns: readonly string[];
  readonly truncated: boolean;
  readonly error: string | null;
}

/** SQLite sorts into a temporary file. Its limit is in units of 512 bytes. */
const maxTemporaryFileBlocks = (256 * 1024 * 1024) / 512;
const maxHeapMb = 128;
/** CPU limit of the child, which would go on for ever if this process were killed. */
const cpuSeconds = (timeLimitMs: number) => Math.ceil(timeLimitMs / 1_000) + 5;

/** Stands beside this file, in the sources and in dist. */
const childFile = fileURLToPath(
  new URL(`./select-child${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url),
);

/** Rejects only if `onRows` does. The child has ended when the promise settles. */
export async function runSelect(request: SelectRequest): Promise<SelectEnd> {
  const { timeLimitMs, signal, onRows, ...job } = request;
  const { NODE_COMPILE_CACHE } = process.env;
  const limits = `ulimit -f ${maxTemporaryFileBlocks}; ulimit -t ${cpuSeconds(timeLimitMs)}; exec nice -n 10 "$0" "$@"`;
  const node = [process.execPath, `--max-old-space-size=${maxHeapMb}`, '--disable-warning=ExperimentalWarning'];
  const child = spawn('/bin/sh', ['-c', limits, ...node, childFile], {
    // The other variables of this process may hold secrets of the configuration.
    env: NODE_COMPILE_CACHE ? { NODE_COMPILE_CACHE } : {},
    stdio: ['pipe', 'pipe', 'ignore'],
    timeout: timeLimitMs,
    killSignal: 'SIGKILL',
    signal,
  });
  const gone = new Promise<string>((resolve) => {
    // An abort is an error, too, and the process ends after it.
    child.on('error', ({ message }) => signal.aborted || resolve(`its process could not be started: ${message}`));
    child.once('close', (code, by) =>
      resolve(code === 0 ? 'its process gave no answer' : `its process was killed (${by ?? `code ${code}`})`),
    );
  });
  child.stdin.on('error', () => {});
  child.stdin.end(JSON.stringify(job));
  try {
    const said = await readLines(createInterface({ input: child.stdout }), onRows);
    const ended = await gone;
    const isLate = child.killed && !signal.aborted;
    const error = isLate ? `it took longer than ${timeLimitMs / 1_000} s and was stopped` : ended;
    return said ?? { columns: [], truncated: false, error };
  } finally {
    child.kill('SIGKILL');
    await gone;
  }
}

// Each line of the child is an object with `columns`, then, for each chunk, the number of its rows and the rows
// (`2 [[1,"a"],[2,"b"]]`), and at last an object with `truncated`, `error` (of SQLite) or `refused` (a whole sentence).

async function readLines(lines: AsyncIterable<string>, onRows: SelectRequest['onRows']): Promise<SelectEnd | null> {
  let columns: readonly string[] = [];
  let firstRow = 0;
  for await (const line of lines) {
    const chunk = /^(\d+) /.exec(line);
    // A process that is killed may leave half a line.
    if (chunk && line.endsWith(']')) {
      const count = Number(chunk[1]);
      await onRows({ firstRow, count, rows: line.slice(chunk[0].length) }, columns);
      firstRow += count;
      continue;
    }
    if (!line.endsWith('}')) continue;
    const said: { columns?: readonly string[]; truncated?: boolean; error?: string; refused?: string } =
      JSON.parse(line);
    if (said.columns) columns = said.columns;
    if (said.truncated !== undefined) return { columns, truncated: said.truncated, error: null };
    const error = said.refused ?? (said.error && `SQLite says: ${said.error}`);
    if (error !== undefined) return { columns, truncated: false, error };
  }
  return null;
}

// The check of a SELECT compiles it, and never runs it.

export const stepColumns = ['operation', 'outcome', 'message'] as const;
const subjectColumns = ['account', 'mailbox_id'] as const;

/** Time of the run in ISO 8601, which every SELECT may use. */
export const nowParameter = 'now';

/** All checks share the empty tables: nothing is run there. */
let emptySandbox: DatabaseSync | null = null;

export function checkSelect(select: string, parameters: readonly string[], hasOperation: boolean): readonly string[] {
  const bare = withoutQuotedAndComments(select);
  if (!/^\s*(select|with|values)\b/i.test(bare)) return ['must be one SELECT'];
  const problems = parameterProblems(bare, parameters);
  let columns: readonly string[];
  try {
    emptySandbox ??= openSandbox(null, {
      now: 0,
      nearLimitPpm: { usual: 0, others: {} },
      tags: {},
      stale: [],
      statsAt: {},
    });
    const statement = emptySandbox.prepare(select);
    // SQLite compiles the first statement and is silent about the rest.
    if (withoutQuotedAndComments(select.slice(statement.sourceSQL.length)).trim() !== '')
      problems.push('must be one SELECT, not several');
    columns = statement.columns().map(({ name }) => name);
  } catch (error) {
    return [...problems, `SQLite says: ${sayable(error)}`];
  }
  const twice = columns.find((name, index) => columns.indexOf(name) !== index);
  if (twice !== undefined) problems.push(`two columns are called ${twice}: rename one with AS`);
  if (hasOperation) {
    const taken = stepColumns.filter((name) => columns.includes(name));
    if (taken.length > 0)
      problems.push(`the columns ${stepColumns.join(', ')} are added by do:, so ${taken[0]} is taken`);
    const missing = subjectColumns.filter((name) => !columns.includes(name));
    if (missing.length > 0)
      problems.push(`do: needs the columns account and mailbox_id; ${missing.join(' and ')} is missing`);
  }
  return problems;
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

function withoutQuotedAndComments(sql: string): string {
  return sql.replace(/'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\]|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g, (text) =>
    text.startsWith('-') || text.startsWith('/') ? ' ' : "''",
  );
}
