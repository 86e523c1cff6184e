// The store in one SQLite file, which this process holds alone.
import { sql } from 'kysely';
import type { StoreFailure } from '../core/store-failure.ts';
import type { EpochMs } from '../core/time.ts';
import type { Database, FileCare, Transact } from './database.ts';
import { FailedStatements, failureOf, lostWalError, movedError } from './failure.ts';
import { connect, type FileConnection, type QueryListener, storeError } from './file/connection.ts';
import { DamageWatch } from './file/damage.ts';
import { begin, type OutageNote, type StoreBeginning } from './file/outage-note.ts';
import { identityOf, sizeOf } from './file/place.ts';
import { ownLease } from './lease.ts';
import { migrate } from './schema/migrations.ts';
import type { Db } from './schema/tables.ts';

/** SQLite copies the WAL into the file when it holds 1 MB, and writes it again from its start. It grows beyond that while somebody reads. */
const largeWalBytes = 2 * 1024 * 1024;

/** Pages that one step gives back to the disk, and pages that stay in the file for what is written next. */
const pagesAStep = 256;
const pagesKept = 1_024;

/** Opens and migrates the file. Throws StoreError or NewerStoreError, each with one sentence. */
export async function openSqlite(path: string, now: EpochMs, listen?: QueryListener): Promise<Database> {
  const statements = new FailedStatements();
  const connection = connect(path, (event) => {
    statements.listen(event);
    listen?.(event);
  });
  try {
    await migrate(connection.db);
    const { db, file, note } = connection;
    const beginning = await begin(db, connection, now);
    note.keep({ opened: { file: identityOf(file), wal: identityOf(`${file}-wal`) } });
    return new SqliteDatabase(path, connection, { statements, beginning });
  } catch (error) {
    await connection.close();
    throw storeError(path, error);
  }
}

interface OpenedStore {
  readonly statements: FailedStatements;
  readonly beginning: StoreBeginning;
}

class SqliteDatabase implements Database, FileCare {
  readonly lease = ownLease;
  readonly fileCare = this;
  readonly db: Db;
  readonly statements: FailedStatements;
  readonly note: OutageNote;
  readonly warnings: readonly string[];
  readonly news: readonly string[];
  readonly #connection: FileConnection;
  readonly #file: string;
  readonly #wal: string;
  /** Device and inode of the file, its WAL and its index, as they were when it was opened. */
  readonly #opened: ReadonlyMap<string, string>;
  readonly #damage: DamageWatch;
  #closing: Promise<void> | null = null;

  /** The store at `path`: open, and written once. */
  constructor(path: string, connection: FileConnection, { statements, beginning }: OpenedStore) {
    this.db = connection.db;
    this.statements = statements;
    this.note = connection.note;
    this.warnings = [...connection.warnings, ...beginning.warnings];
    this.news = beginning.news;
    this.#connection = connection;
    this.#file = path;
    this.#wal = `${connection.file}-wal`;
    this.#opened = new Map([path, this.#wal, `${connection.file}-shm`].map((one) => [one, identityOf(one)]));
    this.#damage = new DamageWatch(connection.file);
  }

  readonly fence: Transact = async (work) => {
    this.#refuseMoved();
    return this.db.transaction().execute(work);
  };

  forCaller(error: unknown): unknown {
    return error;
  }

  failureOf(error: unknown): StoreFailure {
    return failureOf(this.#file, error);
  }

  sentence(error: unknown): Error {
    return storeError(this.#file, error);
  }

  /** Empties a large WAL: it could keep the disk full by itself, and SQLite never shrinks it. */
  async tidy(): Promise<void> {
    if (sizeOf(this.#wal) <= largeWalBytes) return;
    try {
      this.#refuseMoved();
      // SQLite leaves it as it is while somebody reads.
      await sql`PRAGMA wal_checkpoint(TRUNCATE)`.execute(this.db);
    } catch {
      // The next write says what is wrong.
    }
  }

  async lookForDamage(): Promise<Error | null> {
    try {
      this.#refuseMoved();
    } catch {
      // The next write says what is wrong.
      return null;
    }
    return this.#damage.look();
  }

  async freeSpace(trx: Db): Promise<boolean> {
    const { rows } = await sql<{ freelist_count: number }>`PRAGMA freelist_count`.execute(trx);
    const spare = (rows[0]?.freelist_count ?? 0) - pagesKept;
    if (spare <= 0) return false;
    await sql`PRAGMA incremental_vacuum(${sql.lit(Math.min(pagesAStep, spare))})`.execute(trx);
    return spare > pagesAStep;
  }

  close(): Promise<void> {
    this.#closing ??= this.#damage.close().then(() => this.#connection.close());
    return this.#closing;
  }

  /** A write to a file that has no name any more would succeed, and be lost; without the lock it would not be the only one. */
  #refuseMoved(): void {
    for (const [path, identity] of this.#opened)
      if (identityOf(path) !== identity) throw path === this.#file ? movedError(path) : lostWalError(path);
    this.#connection.lock.hold();
  }
}
