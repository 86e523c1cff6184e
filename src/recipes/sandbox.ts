// A connection on which a recipe's SELECT can do nothing but read the views. It reads the store's own file, or a copy
// of the tables of a store in PostgreSQL, all read at one moment.
import { randomBytes } from 'node:crypto';
import { constants, DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import type { Action } from '../core/action.ts';
import type { MailboxDetail, MailboxEntry } from '../core/answers.ts';
import { dailyRows } from '../core/daily-counts.ts';
import type { GuardMemory } from '../core/guard/memory.ts';
import { guardStateOf } from '../core/guard/run-state.ts';
import { type Change, domainOf, isCalled, mailboxKey, tagParts } from '../core/mailbox.ts';
import { errorText } from '../core/nearest.ts';
import type { Ppm } from '../core/policy.ts';
import type { Cell } from '../core/recipe.ts';
import type { PostgresPlace, StorePlace } from '../core/store-failure.ts';
import type { EpochMs } from '../core/time.ts';
import type { Verdict } from '../core/verdict.ts';
import { explainVerdict } from '../core/wording/explain.ts';
import { pausedText } from '../core/wording/states.ts';
import type { TableRead } from '../store/postgres/reading.ts';
import { storedStats } from '../store/rows.ts';
import { baseTables, views } from './views.ts';

export interface ProgramFacts {
  readonly now: EpochMs;
  /** Share of the limit from which a mailbox is near it; `others` by `ACCOUNT/ID`. */
  readonly nearLimitPpm: { readonly usual: Ppm; readonly others: Readonly<Record<string, Ppm>> };
  /** Tags of the mailboxes that have some, by `ACCOUNT/ID`. */
  readonly tags: Readonly<Record<string, readonly string[]>>;
  /** Mailboxes whose statistics are stale, as `ACCOUNT/ID`. */
  readonly stale: readonly string[];
  /** When the statistics were read, by `ACCOUNT/ID`. The store has this time only to an hour for unchanged ones. */
  readonly statsAt: Readonly<Record<string, EpochMs>>;
}

/** SQLite enforces these, so that a SELECT can't fill the memory. */
const limits = { length: 1_000_000, column: 100, sqlLength: 100_000, attach: 1 };

interface Stage {
  readonly database: DatabaseSync;
  /** Random, so that a SELECT cannot name it. */
  readonly schema: string;
}

/** Opens the store at `path` read-only; without a path, empty tables to check a SELECT against. */
export function openSandbox(path: string | null, facts: ProgramFacts): DatabaseSync {
  return withViews(path === null ? emptyStage() : stageOf(path), facts);
}

/** Throws the error of SQLite, and StoreError if PostgreSQL can't be read. */
export async function sandboxFor(place: StorePlace, select: string, facts: ProgramFacts): Promise<DatabaseSync> {
  return typeof place === 'string' ? openSandbox(place, facts) : copied(place, select, facts);
}

async function copied(place: PostgresPlace, select: string, facts: ProgramFacts): Promise<DatabaseSync> {
  const stage = emptyStage();
  // A store in a file needs no client of PostgreSQL.
  const { readSnapshot } = await import('../store/postgres/reading.ts');
  stage.database.exec('BEGIN');
  await readSnapshot(place, readsOf(select), ({ table, columns }, rows) => fill(stage, table, columns, rows));
  stage.database.exec(`COMMIT; ${indexes.map((index) => index.replaceAll('@', `"${stage.schema}".`)).join('; ')}`);
  return withViews(stage, facts);
}

const indexes = [
  'CREATE INDEX @by_mailbox ON mailboxes (account, mailbox_id)',
  'CREATE INDEX @by_route ON observations (account, mailbox_id, route)',
  'CREATE INDEX @by_id ON decisions (id)',
  'CREATE INDEX @by_decided ON decisions (account, mailbox_id, id)',
  'CREATE INDEX @by_planned ON actions (account, mailbox_id, planned_at)',
  'CREATE INDEX @by_changed ON changes (account, mailbox_id, id)',
];

/** All views but `decisions` show only the newest decision of a mailbox. */
function readsOf(select: string): readonly TableRead[] {
  const named = views.filter(({ name }) => new RegExp(`\\b${name}\\b`, 'i').test(select));
  const sql = named.flatMap(({ from, columns }) => [from, ...columns.map((column) => column.sql)]).join(' ');
  const tables = new Set([...sql.matchAll(/@(\w+)/g)].map(([, table]) => table ?? ''));
  const newestOnly = named.every(({ name }) => name !== 'decisions');
  return [...tables].map((table) => ({
    table,
    columns: baseTables[table] ?? [],
    newestOnly: newestOnly && table === 'decisions',
  }));
}

function fill(
  { database, schema }: Stage,
  table: string,
  columns: readonly string[],
  rows: readonly (readonly unknown[])[],
): void {
  const insert = database.prepare(`INSERT INTO "${schema}".${table} VALUES (${columns.map(() => '?').join(', ')})`);
  for (const row of rows) insert.run(...row.map(bound));
}

/** Whole numbers as BigInt: SQLite takes every number of JavaScript for REAL, so 7 / 3 would be 2.33 and 3 || '' be 3.0. */
function bound(value: unknown): SQLInputValue {
  return (Number.isSafeInteger(value) ? BigInt(value as number) : value) as SQLInputValue;
}

/** Values of a SELECT's parameters. `integers` names those that are whole numbers; all other numbers are REAL. */
export function boundParameters(
  parameters: Readonly<Record<string, Cell>>,
  integers: readonly string[],
): Record<string, SQLInputValue> {
  const values = Object.entries(parameters);
  return Object.fromEntries(values.map(([name, value]) => [name, integers.includes(name) ? bound(value) : value]));
}

/** Leaves out random names and the path of the store. */
export function sayable(error: unknown): string {
  const said = errorText(error);
  return said.replaceAll(/store_[0-9a-f]{32}[._]?|: file:\S*\?mode=ro/g, '');
}

function newStage(): Stage {
  const database = new DatabaseSync(':memory:', { limits, allowExtension: false });
  // A SELECT cannot guess these names, so only the inner views reach the tables. The name of a view alone would not do:
  // a common table expression may have the same name.
  return { database, schema: `store_${randomBytes(16).toString('hex')}` };
}

function emptyStage(): Stage {
  const stage = newStage();
  stage.database.exec(`ATTACH '' AS "${stage.schema}"`);
  for (const [table, columns] of Object.entries(baseTables)) {
    stage.database.exec(`CREATE TABLE "${stage.schema}".${table} (${columns.map((name) => `"${name}"`).join(', ')})`);
  }
  return stage;
}

function stageOf(path: string): Stage {
  const stage = newStage();
  stage.database.exec(
    `ATTACH '${pathToFileURL(path).href.replaceAll("'", "''")}?mode=ro' AS "${stage.schema}"; PRAGMA busy_timeout = 5000`,
  );
  return stage;
}

/** Adds the functions and views of a SELECT, and permits nothing else. */
function withViews({ database, schema }: Stage, facts: ProgramFacts): DatabaseSync {
  const inner = (view: string) => `${schema}_${view}`;
  addFunctions(database, facts);
  for (const { name, columns, from } of views) {
    const selected = columns.map((one) => `${one.sql} AS "${one.name}"`).join(', ');
    const body = `SELECT ${selected} ${from}`.replaceAll('@', `"${schema}".`);
    database.exec(
      `CREATE TEMP VIEW "${inner(name)}" AS ${body}; CREATE TEMP VIEW ${name} AS SELECT * FROM "${inner(name)}"`,
    );
  }
  database.exec('PRAGMA query_only = ON');
  restrict(database, schema, inner);
  return database;
}

/** Tables of SQLite itself, and functions that read like tables. */
const systemTable = /^(sqlite|pragma|dbstat|fts|rtree|geopoly)/i;

/** Permits only the inner views to read tables, and everything else to read views. */
function restrict(database: DatabaseSync, schema: string, inner: (view: string) => string): void {
  const tables = database.prepare(`SELECT name FROM "${schema}".sqlite_schema`).all();
  const hidden = new Set(tables.map(({ name }) => String(name)).filter((name) => !Object.hasOwn(baseTables, name)));
  const innerViews = new Set(views.map(({ name }) => inner(name)));
  const readable = new Set([...innerViews, ...views.map(({ name }) => name), 'json_each', 'json_tree']);
  database.setAuthorizer((code, subject, detail, place, reader) => {
    const name = subject ?? '';
    // If no column is read, as by count(*), SQLite reports neither schema nor reader: the name may be one of the SELECT
    // itself, or a table that a view has joined for other columns. That reveals a number of rows only.
    const noColumn =
      (place === null || place === schema) && detail === '' && !hidden.has(name) && !systemTable.test(name);
    const allowed = {
      [constants.SQLITE_SELECT]: true,
      [constants.SQLITE_RECURSIVE]: true,
      [constants.SQLITE_FUNCTION]: detail !== 'load_extension',
      [constants.SQLITE_READ]: innerViews.has(reader ?? '') || (place !== schema && readable.has(name)) || noColumn,
    };
    return allowed[code] ? constants.SQLITE_OK : constants.SQLITE_DENY;
  });
}

function addFunctions(database: DatabaseSync, facts: ProgramFacts): void {
  const pure = { deterministic: true, useBigIntArguments: true };
  const stale = new Set(facts.stale);
  database.function('now_ms', pure, () => BigInt(Math.round(facts.now)));
  database.function('domain_of', pure, (email) => domainOf(String(email)));
  database.function('is_called', pure, (name, account, id, email) =>
    isCalled(String(name), { account: String(account), id: String(id), email: String(email) }) ? 1n : 0n,
  );
  database.function('tags_of', pure, (account, id) =>
    JSON.stringify((facts.tags[mailboxKey(String(account), String(id))] ?? []).map(tagParts)),
  );
  database.function('stats_read_at', pure, (account, id) => {
    const at = facts.statsAt[mailboxKey(String(account), String(id))];
    return at === undefined ? null : BigInt(Math.round(at));
  });
  database.function('day_rows', pure, (answer) => {
    const stored = read<Parameters<typeof storedStats>[0]>('day_rows', answer);
    if (stored.days === undefined) throw unreadable('day_rows', answer);
    return JSON.stringify(dailyRows(storedStats(stored), facts.now));
  });
  database.function('explain_verdict', pure, (verdict) =>
    verdict === null ? null : explainVerdict(read<Verdict>('explain_verdict', verdict)),
  );
  database.function('paused_text', pure, (claim, actions, changes) =>
    pausedText(
      {
        claim: claim === null ? null : read<GuardMemory['claim']>('paused_text', claim),
        actions: read<readonly Action[]>('paused_text', actions),
        changes: read<readonly Change[]>('paused_text', changes),
      },
      // The other times of the views are in UTC, too.
      'UTC',
    ),
  );
  database.function('guard_state', { ...pure, varargs: true }, (account, id, ...known) => {
    const key = mailboxKey(String(account), String(id));
    const { usual, others } = facts.nearLimitPpm;
    const [verdict = null, judgedAt = null, memory = null, entry = null, detail = null, statsAt = null] = known;
    const seen = {
      verdict: verdict === null ? null : { at: Number(judgedAt), answer: read<Verdict>('guard_state', verdict) },
      memory: memory === null ? null : read<GuardMemory>('guard_state', memory),
      entry: { at: facts.now, answer: read<MailboxEntry>('guard_state', entry) },
      detail: detail === null ? null : { at: facts.now, answer: read<MailboxDetail>('guard_state', detail) },
      stats: statsAt === null ? null : { at: Number(statsAt) },
    };
    return guardStateOf(seen, others[key] ?? usual, stale.has(key));
  });
  // Arguments are pairs of time and value. The newest value that is not NULL counts, the first of two with one time.
  database.function('newest_known', { ...pure, varargs: true }, (...pairs) => {
    let best: { at: number; value: (typeof pairs)[number] } | null = null;
    for (let index = 0; index < pairs.length; index += 2) {
      const [at, value] = [Number(pairs[index]), pairs[index + 1]];
      if (value !== null && value !== undefined && (best === null || at > best.at)) best = { at, value };
    }
    return best?.value ?? null;
  });
}

function read<Value>(name: string, argument: unknown): Value {
  try {
    return JSON.parse(String(argument));
  } catch {
    throw unreadable(name, argument);
  }
}

function unreadable(name: string, argument: unknown): Error {
  const text = String(argument).slice(0, 40);
  return new Error(
    `${name} takes the values of the views, but was given ${text}. If a view did, a row of the store is damaged: \`warmwarden store check\` names it`,
  );
}
