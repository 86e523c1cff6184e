// The store in one SQLite file, which this process holds alone.
import { truncateSync } from 'node:fs';
import { sql } from 'kysely';
import type { StoreFailure } from '../core/store-failure.ts';
import type { EpochMs } from '../core/time.ts';
import { ownTurn } from '../world/event-loop.ts';
import type { Database, Write } from './database.ts';
import {
  cutShortError,
  FailedStatements,
  failureOf,
  isFull,
  isLocked,
  lostWalError,
  movedError,
  overwrittenError,
  shortenedError,
} from './failure.ts';
import { type Connection, connect, type QueryListener, storeError } from './file/connection.ts';
import { DamageWatch } from './file/damage.ts';
import { freePages } from './file/free-pages.ts';
import { identityOf, sizeOf, stampOf } from './file/identity.ts';
import { begin } from './file/loss.ts';
import { FileMark } from './file/mark.ts';
import { leftBeside, OutageNote } from './file/outage-note.ts';
import { WalFrames } from './file/wal-frames.ts';
import { SoleMembership } from './replicas/sole.ts';
import { migrate } from './schema/migrations.ts';

/** At least twice what it grows to before it begins again from its start. */
const largeWalBytes = 8 * 1024 * 1024;
/**
 * So many pages of the WAL are copied into the file at a time, in a turn of the event loop of their own: five to seven
 * milliseconds of CPU. Fewer at a time are written more often: with 400, half as much again went to the disk.
 */
const framesACopy = 1_000;

/** Opens and migrates the file. Throws StoreError or NewerStoreError, each with one sentence. */
export async function openSqlite(path: string, now: EpochMs, listen?: QueryListener): Promise<Database> {
  const statements = new FailedStatements();
  const connection = connect(path, (event) => {
    statements.listen(event);
    listen?.(event);
  });
  const left = leftBeside(connection.file);
  const note = new OutageNote(connection.file);
  let mark: FileMark | null = null;
  try {
    await migrate(connection.db);
    const { news, warnings } = await begin(connection.db, connection.file, { left, now });
    mark = await FileMark.put(connection.db, connection.file);
    note.heeded();
    return new SqliteDatabase(
      path,
      { ...connection, warnings: [...connection.warnings, ...warnings], news, mark, note },
      statements,
    );
  } catch (error) {
    await connection.close();
    mark?.close();
    throw storeError(path, error);
  }
}

interface MarkedConnection extends Connection {
  readonly mark: FileMark;
  readonly note: OutageNote;
  readonly news: readonly string[];
}

class SqliteDatabase implements Database {
  readonly membership = new SoleMembership();
  readonly statements: FailedStatements;
  readonly #connection: MarkedConnection;
  readonly #file: string;
  readonly #wal: string;
  /** Device and inode of the file, its WAL and its index, as they were when it was opened. */
  readonly #opened: ReadonlyMap<string, string>;
  readonly #frames: WalFrames;
  readonly #damage: DamageWatch;
  #isCopying = false;
  /** Of the WAL after the newest write: it grows, and begins again from its start, but SQLite never shrinks it. */
  #walBytes = 0;
  /** The disk was full, and what the WAL takes of it was not given back since. */
  #wasFull = false;
  #closing: Promise<void> | null = null;

  /** The store at `path`: open, and written once. */
  constructor(path: string, connection: MarkedConnection, statements: FailedStatements) {
    this.statements = statements;
    this.#connection = connection;
    this.#file = path;
    this.#wal = `${connection.file}-wal`;
    const files = [path, this.#wal, `${connection.file}-shm`];
    this.#opened = new Map(files.map((path) => [path, identityOf(path)]));
    this.#damage = new DamageWatch(connection.file);
    this.#frames = new WalFrames(`${connection.file}-shm`);
  }

  get db() {
    return this.#connection.db;
  }

  get note(): OutageNote {
    return this.#connection.note;
  }

  get warnings(): readonly string[] {
    return this.#connection.warnings;
  }

  get news(): readonly string[] {
    return this.#connection.news;
  }

  readonly fence: Write = async (work) => {
    this.#refuseMoved();
    if (sizeOf(this.#wal) < this.#walBytes) await this.#refuseCut();
    const result = await this.#connection.db.transaction().execute(work);
    this.#walBytes = sizeOf(this.#wal);
    this.note.keepReplaced(null);
    if (this.#frames.sinceMark() >= framesACopy && !this.#isCopying) void this.#copySoon();
    return result;
  };

  /** Never rejects: what is not copied now is after the next commit. */
  async #copySoon(): Promise<void> {
    this.#isCopying = true;
    try {
      // Nobody else's statements go with it: the connection is had first.
      await this.db.connection().execute(async (db) => {
        await ownTurn();
        this.#refuseMoved();
        await sql`PRAGMA wal_checkpoint(PASSIVE)`.execute(db);
        this.#frames.mark();
      });
    } catch {
      // The next write says what is wrong with the disk.
    } finally {
      this.#isCopying = false;
    }
  }

  forCaller(error: unknown): unknown {
    return error;
  }

  failureOf(error: unknown): StoreFailure {
    this.#wasFull ||= isFull(error);
    return failureOf(this.#file, error);
  }

  sentence(error: unknown): Error {
    return storeError(this.#file, error);
  }

  /** What a WAL took that grew, while the disk was full or somebody read for long: it could keep the disk full by itself. */
  async tidy(): Promise<void> {
    if (!this.#wasFull && sizeOf(this.#wal) <= largeWalBytes) return;
    try {
      this.#refuseMoved();
      const { rows } = await sql<{ busy: number }>`PRAGMA wal_checkpoint(TRUNCATE)`.execute(this.db);
      // Busy: somebody reads what it holds. It is tried again at the next look.
      if (rows[0]?.busy === 0) this.#wasFull = false;
      this.#walBytes = sizeOf(this.#wal);
    } catch {
      // As full as before, or another file is there, or worse: the next write says what it is.
    }
  }

  async lookForDamage(): Promise<Error | null> {
    try {
      this.#refuseMoved();
    } catch {
      // The next write says what it is.
      return null;
    }
    return this.#damage.look();
  }

  freeSpace = freePages;

  readonly locksRows = false;
  readonly others = null;

  /** There is no other process. */
  async notify(): Promise<void> {}

  listen(): void {}

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#damage.close();
    const { mark } = this.#connection;
    // What the WAL holds does not belong to the file that was put there: SQLite is to lay nothing over it.
    if (mark.content === 'other' && identityOf(this.#wal) === this.#opened.get(this.#wal)) truncateSync(this.#wal, 0);
    await this.#connection.close();
    mark.close();
    this.#frames.close();
  }

  /** A write to a file that has no name any more would succeed, and be lost; without the lock it would not be the only one. */
  #refuseMoved(): void {
    for (const [path, identity] of this.#opened) {
      if (identityOf(path) === identity) continue;
      if (path !== this.#file) throw lostWalError(path);
      this.#keepReplaced();
      throw movedError(path);
    }
    const { content } = this.#connection.mark;
    if (content !== 'ours') {
      this.#keepReplaced();
      throw content === 'cut' ? shortenedError(this.#file) : overwrittenError(this.#file, content === 'none');
    }
    this.#connection.lock.hold();
  }

  /** Should the process be killed, the next one must not lay the WAL over the file that is there then. */
  #keepReplaced(): void {
    const isOurs = identityOf(this.#wal) === this.#opened.get(this.#wal);
    this.note.keepReplaced({ file: this.#connection.mark.traits, wal: isOurs ? stampOf(this.#wal) : null });
  }

  /**
   * A tool that empties the WAL has copied it into the file first; whoever cut it short took writes away, and the next
   * checkpoint would copy the gap into the file. SQLite knows which it was: it can't copy what is not there.
   */
  async #refuseCut(): Promise<void> {
    try {
      await sql`PRAGMA wal_checkpoint(PASSIVE)`.execute(this.db);
    } catch (error) {
      throw isLocked(error) ? error : cutShortError(this.#wal);
    }
  }
}
