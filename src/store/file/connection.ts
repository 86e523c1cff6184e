// node:sqlite behind Kysely: the one connection that writes, and those that read beside it.

import { statSync } from 'node:fs';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { Kysely, type LogEvent, type SqliteDatabase, SqliteDialect } from 'kysely';
import { errorText, withoutNul } from '../../core/nearest.ts';
import { DamagedRowError, deletionOf, isFull, StoreError } from '../failure.ts';
import { NewerStoreError } from '../schema/migrations.ts';
import type { Tables } from '../schema/tables.ts';
import { StoreLock } from './lock.ts';
import { NewestByText } from './newest-by-text.ts';
import { putOrphanedWalAside } from './orphaned-wal.ts';
import { busyTimeoutMs, PatientDialect } from './patience.ts';
import { closeToOthers, prepare } from './place.ts';

/** Of the texts of all statements that are kept prepared: a prepared one takes some thirty times its text. */
const preparedLetters = 256 * 1024;

/** SQLite writes whole pages, and an answer that changes is one row of less than a kilobyte among thousands. */
const pageBytes = 1_024;

/** More than the WAL holds of a list that changes 500 mailboxes and their alerts, and of what was committed before. */
const framesUntilCommitCopies = 4_000;

/** As PostgreSQL has it, so that a store can be copied there. */
function storable(parameter: unknown): SQLInputValue {
  return (typeof parameter === 'string' ? withoutNul(parameter) : parameter) as SQLInputValue;
}

/** A statement of better-sqlite3, as Kysely's SQLite dialect expects it. */
type Prepared = ReturnType<SqliteDatabase['prepare']>;

/** Kysely's SQLite dialect expects better-sqlite3's interface; the statements used last are kept prepared. */
function shim(database: DatabaseSync): SqliteDatabase {
  const prepared = new NewestByText<Prepared>(preparedLetters);
  return {
    prepare(text) {
      const known = prepared.get(text);
      if (known) return known;
      const made = statementOf(database, text);
      // What is prepared knows the columns of its tables as they were.
      if (/^\s*(create|alter|drop)\b/i.test(text)) prepared.clear();
      else prepared.keep(text, made);
      return made;
    },
    close: () => database.close(),
  };
}

function statementOf(database: DatabaseSync, text: string): Prepared {
  const statement = database.prepare(text);
  const columns = statement.columns().map(({ name }) => name);
  const values = (parameters: readonly unknown[]) => parameters.map(storable);
  // Rows that node:sqlite makes objects of take half as long again to read: they are hash tables.
  statement.setReturnArrays(true);
  const rowOf = (cells: unknown): Record<string, unknown> => {
    const row: Record<string, unknown> = {};
    for (let at = 0; at < columns.length; at += 1) row[columns[at] as string] = (cells as readonly unknown[])[at];
    return row;
  };
  return {
    // It names no column, and frees a page with each row that is read.
    reader: columns.length > 0 || text.startsWith('PRAGMA incremental_vacuum'),
    all: (parameters: readonly unknown[]) => statement.all(...values(parameters)).map(rowOf),
    run: (parameters: readonly unknown[]) => {
      const { changes, lastInsertRowid } = statement.run(...values(parameters));
      return { changes, lastInsertRowid };
    },
    *iterate(parameters: readonly unknown[]) {
      for (const cells of statement.iterate(...values(parameters))) yield rowOf(cells);
    },
  };
}

export interface Connection {
  readonly db: Kysely<Tables>;
  /** The file itself, where the path is a link. */
  readonly file: string;
  readonly lock: StoreLock;
  /** What other users could do to the store, and what became of an earlier one: sentences for the log. */
  readonly warnings: readonly string[];
  close(): Promise<void>;
}

/** Hears of each query, when it is over. */
export type QueryListener = (event: LogEvent) => void;

/** Opens the file for this process alone. Throws StoreError when the folder can't be written, the file is no database, or another process holds it. */
export function connect(path: string, listen: QueryListener = () => {}): Connection {
  let lock: StoreLock | undefined;
  try {
    const file = prepare(path);
    const held = new StoreLock(file);
    lock = held;
    const aside = putOrphanedWalAside(file);
    const database = new DatabaseSync(file);
    refuseForeign(database, path);
    // Of a new store: what is deleted can be given back to the disk (free-pages.ts).
    database.exec(`PRAGMA page_size = ${pageBytes}; PRAGMA auto_vacuum = INCREMENTAL`);
    database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL`);
    // The WAL is copied into the file in a turn of its own (sqlite.ts). Where that is not possible, SQLite does it, within COMMIT.
    database.exec(`PRAGMA wal_autocheckpoint = ${framesUntilCommitCopies}`);
    const dialect = new PatientDialect({ database: shim(database) }, () => database.isTransaction);
    const db = new Kysely<Tables>({ dialect, log: listen });
    return {
      db,
      file,
      lock: held,
      warnings: [...aside, ...closeToOthers(file)],
      async close() {
        await db.destroy();
        held.close();
      },
    };
  } catch (error) {
    lock?.close();
    throw storeError(path, error);
  }
}

/** Opens the file for reading beside the process that writes it. Throws StoreError. */
export function connectReadOnly(path: string): Kysely<Tables> {
  try {
    // SQLite would delete the WAL beside an empty file.
    if (statSync(path, { throwIfNoEntry: false })?.size === 0)
      throw new StoreError(`The store ${path} can't be used: the file is empty.`);
    const database = new DatabaseSync(path, { readOnly: true });
    // SQLite reads nothing until it is asked: a file that is no database shows here.
    database.exec('PRAGMA schema_version');
    return new Kysely<Tables>({ dialect: new SqliteDialect({ database: shim(database) }) });
  } catch (error) {
    throw storeError(path, error);
  }
}

/** A database of something else is left as it is: nothing of ours is written into it. */
function refuseForeign(database: DatabaseSync, path: string): void {
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  const names = tables.map(({ name }) => String(name));
  if (names.length === 0 || names.includes('meta')) return;
  database.close();
  throw new StoreError(
    `The store ${path} can't be used: it is a database of another program, with a table ${names[0]}. Set store.url to another file.`,
  );
}

/** One sentence with a remedy, whatever went wrong with the file. */
export function storeError(path: string, error: unknown): Error {
  if (error instanceof DamagedRowError) {
    return new StoreError(`The store ${path} is damaged: ${error.message}. ${deletionOf(path, error)}`);
  }
  if (error instanceof StoreError || error instanceof NewerStoreError) return error;
  if (isFull(error))
    return new StoreError(`The store ${path} can't be opened: its disk is full. Free up space on that disk.`);
  const said = errorText(error);
  const foreign =
    /not a database|malformed|no such (table|column)|already exists/.test(said) && !said.includes('EEXIST');
  return new StoreError(
    foreign
      ? `The store ${path} can't be used: it is not a store of Warmwarden, or it is damaged (${said}). If it is Warmwarden's store, move it, ${path}-wal and ${path}-shm away, and put a backup at ${path}. Otherwise, set store.url to another file.`
      : `The store ${path} can't be opened: ${said}. Set store.url to a file in a writable folder.`,
  );
}
