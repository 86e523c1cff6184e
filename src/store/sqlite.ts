// The store in one SQLite file, which this process holds alone.
import { Worker } from 'node:worker_threads';
import { sql } from 'kysely';
import type { StoreFailure } from '../core/store-failure.ts';
import { type EpochMs, minuteMs } from '../core/time.ts';
import { type Database, type FileCare, ownLease, type Transact } from './database.ts';
import { DamagedFileError, failureOf, lostWalError, movedError } from './failure.ts';
import { connect, type FileConnection, type QueryListener, storeError } from './file/connection.ts';
import { begin, type OutageNote, type StoreBeginning } from './file/outage-note.ts';
import { identityOf } from './file/place.ts';
import { type DiskOptions, Wal } from './file/wal.ts';
import { migrate } from './schema/migrations.ts';
import type { Db } from './schema/tables.ts';

/** Pages that one step gives back to the disk, and pages that stay in the file for later writes. */
const pagesAStep = 256;
const pagesKept = 1_024;

export interface FileOptions extends DiskOptions {
  readonly listen?: QueryListener;
}

export async function openSqlite(path: string, now: EpochMs, options: FileOptions = {}): Promise<Database> {
  const connection = connect(path, options.listen);
  try {
    await migrate(connection.db);
    const { db, file, note } = connection;
    const beginning = await begin(db, connection, now);
    note.keep({ opened: { file: identityOf(file), wal: identityOf(`${file}-wal`) } });
    return new SqliteDatabase(path, connection, { ...beginning, now, wal: new Wal(connection, options) });
  } catch (error) {
    await connection.close();
    throw storeError(path, error);
  }
}

class SqliteDatabase implements Database, FileCare {
  readonly lease = ownLease;
  readonly fileCare = this;
  readonly db: Db;
  readonly note: OutageNote;
  readonly warnings: readonly string[];
  readonly news: readonly string[];
  readonly #connection: FileConnection;
  readonly #file: string;
  readonly #wal: Wal;
  /** Device and inode of the file, its WAL and its index, as they were when it was opened. */
  readonly #opened: ReadonlyMap<string, string>;
  readonly #damage: DamageWatch;
  #closing: Promise<void> | null = null;

  constructor(
    path: string,
    connection: FileConnection,
    beginning: StoreBeginning & { readonly now: EpochMs; readonly wal: Wal },
  ) {
    this.db = connection.db;
    this.note = connection.note;
    this.warnings = [...connection.warnings, ...beginning.warnings];
    this.news = beginning.news;
    this.#connection = connection;
    this.#file = path;
    this.#wal = beginning.wal;
    const files = [path, `${connection.file}-wal`, `${connection.file}-shm`];
    this.#opened = new Map(files.map((one) => [one, identityOf(one)]));
    this.#damage = new DamageWatch(connection.file, beginning.now);
  }

  readonly fence: Transact = async (work) => {
    this.#refuseLoss();
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

  synced(): Promise<void> {
    return this.#wal.synced();
  }

  async tidy(): Promise<void> {
    try {
      this.#refuseLoss();
    } catch {
      // The next write reports the failure.
      return;
    }
    await this.#wal.copy();
  }

  async lookForDamage(now: EpochMs): Promise<Error | null> {
    try {
      this.#refuseLoss();
    } catch {
      // The next write reports the failure.
      return null;
    }
    return this.#damage.look(now);
  }

  async freeSpace(trx: Db): Promise<boolean> {
    const { rows } = await sql<{ freelist_count: number }>`PRAGMA freelist_count`.execute(trx);
    const spare = (rows[0]?.freelist_count ?? 0) - pagesKept;
    if (spare <= 0) return false;
    await sql`PRAGMA incremental_vacuum(${sql.lit(Math.min(pagesAStep, spare))})`.execute(trx);
    return spare > pagesAStep;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#damage.close();
    await this.#wal.close();
    await this.#connection.close();
  }

  /** A write to a deleted file would succeed and be lost; without the lock, another process could write, too. */
  #refuseLoss(): void {
    this.#wal.refuseLost();
    for (const [path, identity] of this.#opened)
      if (identityOf(path) !== identity) throw path === this.#file ? movedError(path) : lostWalError(path);
    this.#connection.lock.hold();
  }
}

// Damage to pages of the file. SQLite serves pages from its cache, so reads alone do not show it.

/** Time between two checks: a check of 20 MB takes a tenth of a second of CPU. */
const checkEveryMs = 5 * minuteMs;

const threadFile = new URL(`./file/damage-thread${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url);

/** Checks all pages in a thread, one check at a time. */
class DamageWatch {
  readonly #file: string;
  #worker: Worker | null = null;
  #lookedAt: EpochMs;

  constructor(file: string, now: EpochMs) {
    this.#file = file;
    this.#lookedAt = now;
  }

  /** Returns null if SQLite finds no damage, or if it is too soon to check. Never rejects. */
  async look(now: EpochMs): Promise<DamagedFileError | null> {
    if (this.#worker || now - this.#lookedAt < checkEveryMs) return null;
    this.#lookedAt = now;
    const damage = await this.#lookInThread();
    return damage === null ? null : new DamagedFileError(damage);
  }

  async close(): Promise<void> {
    this.#lookedAt = Number.POSITIVE_INFINITY;
    await this.#worker?.terminate();
  }

  #lookInThread(): Promise<string | null> {
    return new Promise((resolve) => {
      const worker = new Worker(threadFile, { workerData: this.#file, env: {} });
      this.#worker = worker;
      worker.unref();
      worker.once('message', resolve);
      worker.once('error', () => resolve(null));
      worker.once('exit', () => {
        this.#worker = null;
        resolve(null);
      });
    });
  }
}
