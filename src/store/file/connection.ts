// node:sqlite behind Kysely: the one connection that writes, and the connections that read.

import { renameSync, statSync } from 'node:fs';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  Kysely,
  type LogEvent,
  type SqliteDatabase,
  SqliteDialect,
  SqliteDriver,
} from 'kysely';
import { errorText, withoutNul } from '../../core/nearest.ts';
import { DamagedRowError, deletionOf, isFull, StoreError } from '../failure.ts';
import { NewerStoreError } from '../schema/migrations.ts';
import type { Db, Tables } from '../schema/tables.ts';
import { StoreLock } from './lock.ts';
import { OutageNote } from './outage-note.ts';
import { closeToOthers, identityOf, prepare } from './place.ts';

const maxPrepared = 200;

/** SQLite waits this long for the lock of another process, and blocks the whole process meanwhile. */
const busyTimeoutMs = 250;

/** Small pages: SQLite writes whole pages, and a changed answer is one row of less than a kilobyte among thousands. */
const pageBytes = 1_024;

/**
 * Removes the letter NUL, which PostgreSQL does not accept: the store may be copied there. Whole numbers are INTEGER, as
 * there: SQLite takes every number of JavaScript for REAL.
 */
function storable(parameter: unknown): SQLInputValue {
  if (Number.isSafeInteger(parameter)) return BigInt(parameter as number);
  return (typeof parameter === 'string' ? withoutNul(parameter) : parameter) as SQLInputValue;
}

type PreparedStatement = ReturnType<SqliteDatabase['prepare']>;

/** Adapts node:sqlite to the interface of better-sqlite3, which Kysely expects. */
function shim(database: DatabaseSync): SqliteDatabase {
  const prepared = new Map<string, PreparedStatement>();
  return {
    prepare(text) {
      // A prepared statement caches the columns of its tables.
      if (prepared.size >= maxPrepared || /^\s*(create|alter|drop)\b/i.test(text)) prepared.clear();
      const statement = prepared.get(text) ?? statementOf(database, text);
      prepared.set(text, statement);
      return statement;
    },
    close: () => database.close(),
  };
}

function statementOf(database: DatabaseSync, text: string): PreparedStatement {
  const statement = database.prepare(text);
  const values = (parameters: readonly unknown[]) => parameters.map(storable);
  return {
    // The pragma names no column, but frees one page per row that is read.
    reader: statement.columns().length > 0 || text.startsWith('PRAGMA incremental_vacuum'),
    all: (parameters: readonly unknown[]) => statement.all(...values(parameters)),
    run: (parameters: readonly unknown[]) => statement.run(...values(parameters)),
    iterate: (parameters: readonly unknown[]) => statement.iterate(...values(parameters)),
  };
}

class WriterDriver extends SqliteDriver {
  readonly #database: DatabaseSync;
  readonly #committed: () => void;

  constructor(database: DatabaseSync, committed: () => void) {
    super({ database: shim(database) });
    this.#database = database;
    this.#committed = committed;
  }

  /** Takes the write lock at once: a transaction that another process blocks fails before it has done anything. */
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }

  override async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await super.commitTransaction(connection);
    this.#committed();
  }

  /** SQLite rolls back by itself after a full disk. A ROLLBACK would fail then, and hide the cause. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#database.isTransaction) await super.rollbackTransaction(connection);
  }
}

const writerDialect = (database: DatabaseSync, committed: () => void): Dialect =>
  Object.assign(new SqliteDialect({ database: shim(database) }), {
    createDriver: () => new WriterDriver(database, committed),
  });

export interface FileConnection {
  readonly db: Db;
  readonly file: string;
  readonly lock: StoreLock;
  readonly note: OutageNote;
  /** Risks from other users, and the fate of an earlier WAL: sentences for the log. */
  readonly warnings: readonly string[];
  /** Stops the syncs of COMMIT; `committed` is called right after each from now on. */
  noSync(committed: () => void): void;
  /** Size of what the WAL holds; its file may be larger. */
  walBytes(): number;
  close(): Promise<void>;
}

export type QueryListener = (event: LogEvent) => void;

/** Throws StoreError. */
export function connect(path: string, listen: QueryListener = () => {}): FileConnection {
  let lock: StoreLock | undefined;
  try {
    const file = prepare(path);
    const held = new StoreLock(file);
    lock = held;
    const note = new OutageNote(file);
    const aside = putWalAside(file, note);
    const database = new DatabaseSync(file);
    refuseForeign(database, path);
    // Both pragmas affect only a new file.
    database.exec(`PRAGMA page_size = ${pageBytes}; PRAGMA auto_vacuum = INCREMENTAL`);
    database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL`);
    // Changes whose sync failed may still be in memory, where the kernel takes them for stored: they are written once more.
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    const frames = database.prepare('PRAGMA wal_checkpoint(NOOP)');
    let committed = () => {};
    const db = new Kysely<Tables>({ dialect: writerDialect(database, () => committed()), log: listen });
    return {
      db,
      file,
      lock: held,
      note,
      warnings: [...aside, ...closeToOthers(file)],
      noSync(listener) {
        database.exec('PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0');
        committed = listener;
      },
      walBytes: () => Number(frames.get()?.['log']) * pageBytes,
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

export function connectReadOnly(path: string): Db {
  try {
    // SQLite would delete the WAL beside an empty file.
    if (statSync(path, { throwIfNoEntry: false })?.size === 0)
      throw new StoreError(`The store ${path} can't be used: the file is empty.`);
    const database = new DatabaseSync(path, { readOnly: true });
    // SQLite reads the file only on the first statement, which fails here if the file is no database.
    database.exec('PRAGMA schema_version');
    return new Kysely<Tables>({ dialect: new SqliteDialect({ database: shim(database) }) });
  } catch (error) {
    throw storeError(path, error);
  }
}

/** SQLite would apply the WAL of a file that is no longer at its path to the file that is there now. */
function putWalAside(file: string, { content: { opened } }: OutageNote): readonly string[] {
  const wal = `${file}-wal`;
  if (!opened || identityOf(file) === opened.file || identityOf(wal) !== opened.wal) return [];
  renameSync(wal, `${file}.aside-wal`);
  return [
    `${file} is not the file that the last process had open. Warmwarden moved the newest changes of the earlier file to ${file}.aside-wal, so that SQLite does not apply them to this file. If you have the earlier file and want to read it with these changes, rename it to ${file}.aside.`,
  ];
}

function refuseForeign(database: DatabaseSync, path: string): void {
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  const names = tables.map(({ name }) => String(name));
  if (names.length === 0 || names.includes('meta')) return;
  database.close();
  throw new StoreError(
    `The store ${path} can't be used: it is a database of another program, with a table ${names[0]}. Set store.url to another file.`,
  );
}

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
