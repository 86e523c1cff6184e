// Where a SELECT runs: over the store's own file; or, with a store in PostgreSQL, over a copy of the tables that it asks, all read
// at one moment. Recipes are written in SQLite's words on both.
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import type { PostgresPlace, StorePlace } from '../core/store-failure.ts';
import type { TableRead } from '../store/postgres/snapshot.ts';
import { emptyStage, type Facts, guarded, openSandbox, type Stage } from './sandbox.ts';
import { baseTables } from './views.ts';

/** Throws what SQLite says of the SELECT, and StoreError when PostgreSQL can't be read. */
export async function sandboxFor(place: StorePlace, select: string, facts: Facts): Promise<DatabaseSync> {
  return typeof place === 'string' ? openSandbox(place, facts) : copied(place, select, facts);
}

async function copied(place: PostgresPlace, select: string, facts: Facts): Promise<DatabaseSync> {
  const stage = emptyStage();
  // Only here: a store in a file needs no client of PostgreSQL.
  const { readSnapshot } = await import('../store/postgres/snapshot.ts');
  stage.database.exec('BEGIN');
  await readSnapshot(place, readsOf(select, facts), ({ table, columns }, rows) => fill(stage, table, columns, rows));
  stage.database.exec(`COMMIT; ${indexes.map((index) => index.replaceAll('@', `"${stage.schema}".`)).join('; ')}`);
  return guarded(stage, facts);
}

/** What the views look rows up by. */
const indexes = [
  'CREATE INDEX @by_mailbox ON mailboxes (account, mailbox_id)',
  'CREATE INDEX @by_route ON observations (account, mailbox_id, route)',
  'CREATE INDEX @by_id ON decisions (id)',
  'CREATE INDEX @by_decided ON decisions (account, mailbox_id, id)',
  'CREATE INDEX @by_planned ON actions (account, mailbox_id, planned_at)',
  'CREATE INDEX @by_changed ON changes (account, mailbox_id, id)',
];

/** The view `mailboxes` shows of the decisions only the newest of each. */
const showsNewest = (view: string) => /_mailboxes$/.test(view);

/** The tables that a SELECT asks, as SQLite finds when it compiles it over empty ones. */
function readsOf(select: string, facts: Facts): readonly TableRead[] {
  const readers = new Map<string, Set<string>>();
  const empty = guarded(emptyStage(), facts, (table, view) => {
    readers.set(table, (readers.get(table) ?? new Set()).add(view));
  });
  // A view's own reads are heard when it is compiled into a statement; what is said of its names alone has no reader.
  empty.prepare(select);
  empty.close();
  return [...readers].map(([table, views]) => ({
    table,
    columns: baseTables[table] ?? [],
    newestOnly: table === 'decisions' && [...views].every((view) => view === '' || showsNewest(view)),
  }));
}

function fill({ database, schema }: Stage, table: string, columns: readonly string[], rows: TableRows): void {
  const insert = database.prepare(`INSERT INTO "${schema}".${table} VALUES (${columns.map(() => '?').join(', ')})`);
  for (const row of rows) insert.run(...(row as readonly SQLInputValue[]));
}

type TableRows = readonly (readonly unknown[])[];
