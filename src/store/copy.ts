// Moves a store from a SQLite file into a PostgreSQL database: every row of every table, in one transaction.
import { type Insertable, sql } from 'kysely';
import { nameOf, type PostgresPlace } from '../core/store-failure.ts';
import type { EpochMs } from '../core/time.ts';
import { listText } from '../core/wording/phrases.ts';
import type { Database } from './database.ts';
import { StoreError } from './failure.ts';
import { openPostgres } from './postgres.ts';
import { rowsAPiece, upsert } from './rows.ts';
import { type Db, type Tables, tableNames } from './schema/tables.ts';
import { openSqlite } from './sqlite.ts';

type CopiedRow = Readonly<Record<string, unknown>> & { readonly rowid: number };

export interface CopiedTable {
  readonly table: string;
  readonly rows: number;
}

export interface StoreCopy {
  readonly tables: readonly CopiedTable[];
  readonly warnings: readonly string[];
}

/** Keys of `meta` that describe one store and not its content. */
const ownKeys: readonly string[] = ['schema_version', 'oldest_compatible', 'holder', 'alive_at'];

/** Upgrades an earlier source first. No process may use either store meanwhile. Refuses a target that is not empty. */
export async function copyStore(from: string, to: PostgresPlace, now: EpochMs): Promise<StoreCopy> {
  const source = await openSqlite(from, now);
  try {
    const target = await openPostgres(to, now);
    try {
      const foreign = await foreignTables(source.db);
      return { tables: await copyTables(source, target, to), warnings: [...source.warnings, ...foreign] };
    } catch (error) {
      throw target.sentence(error);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

/** Names tables of other programs, such as Litestream's: they stay in the file. */
async function foreignTables(source: Db): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string }>`
    SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite~_%' ESCAPE '~' ORDER BY name`.execute(
    source,
  );
  const own: readonly string[] = tableNames;
  const names = rows.map(({ name }) => name).filter((name) => !own.includes(name));
  return names.length === 0 ? [] : [`Not copied, because Warmwarden did not make it: ${listText(names)}.`];
}

async function copyTables(source: Database, target: Database, to: PostgresPlace): Promise<readonly CopiedTable[]> {
  return target.fence(async (trx) => {
    await refuseFilled(trx, to);
    const copied: CopiedTable[] = [];
    for (const table of tableNames) copied.push({ table, rows: await copyTable(source.db, trx, table) });
    await continueIds(trx);
    return copied;
  });
}

async function refuseFilled(trx: Db, to: PostgresPlace): Promise<void> {
  for (const table of tableNames.filter((name) => name !== 'meta')) {
    const row = await trx.selectFrom(table).select(sql<number>`1`.as('one')).limit(1).executeTakeFirst();
    if (row) throw new StoreError(`The store ${nameOf(to)} already holds data: copy into an empty database.`);
  }
}

async function copyTable(source: Db, trx: Db, table: keyof Tables): Promise<number> {
  let [copied, after] = [0, 0];
  for (;;) {
    const { rows } = await sql<CopiedRow>`
      SELECT rowid AS rowid, * FROM ${sql.table(table)} WHERE rowid > ${after} ORDER BY rowid LIMIT ${sql.lit(rowsAPiece)}`.execute(
      source,
    );
    const kept = rows.filter((row) => table !== 'meta' || !ownKeys.includes(String(row['key'])));
    await upsert(
      trx,
      table,
      kept.map(({ rowid: _, ...row }) => row as unknown as Insertable<Tables[typeof table]>),
    );
    copied += kept.length;
    after = rows.at(-1)?.rowid ?? after;
    if (rows.length < rowsAPiece) return copied;
  }
}

async function continueIds(trx: Db): Promise<void> {
  const { rows } = await sql<{ table: string; column: string }>`
    SELECT table_name AS "table", column_name AS "column" FROM information_schema.columns
    WHERE table_schema = current_schema() AND is_identity = 'YES'`.execute(trx);
  for (const { table, column } of rows)
    await sql`SELECT setval(pg_get_serial_sequence(${table}, ${column}), max(${sql.ref(column)})) FROM ${sql.table(table)}
      HAVING max(${sql.ref(column)}) IS NOT NULL`.execute(trx);
}
