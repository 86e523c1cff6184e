// The only way to the tables: every read and every transaction of the store goes through here, and each failure is noticed.
import { type Kysely, sql } from 'kysely';
import type { StoreTrouble } from '../model/store-failure.ts';
import { cutShortError, failureOf, isFull, isLocked, lostWalError, movedError } from './failure.ts';
import type { Connection } from './file/connection.ts';
import { identityOf, sizeOf } from './file/identity.ts';
import type { StoreLock } from './file/lock.ts';
import type { Tables } from './schema/tables.ts';

type Db = Kysely<Tables>;

/** Runs a business event's statements as one transaction: all of them, or none. */
type Write = <Result>(work: (trx: Db) => Promise<Result>) => Promise<Result>;

/** Runs queries. */
type Read = <Result>(work: (db: Db) => Promise<Result>) => Promise<Result>;

/** Twice what SQLite lets it grow to before it begins again from its start. */
const largeWalBytes = 8 * 1024 * 1024;

export class Gate {
  readonly #db: Db;
  readonly #lock: StoreLock;
  readonly #file: string;
  readonly #wal: string;
  /** Device and inode of the file, its WAL and its index, as they were when it was opened. */
  readonly #opened: ReadonlyMap<string, string>;
  /** Of the WAL after the newest write: it grows, and begins again from its start, but SQLite never shrinks it. */
  #walBytes = 0;
  /** The disk was full, and what the WAL takes of it was not given back since. */
  #wasFull = false;
  #trouble: StoreTrouble = { failures: 0, newest: null };
  #listener: () => void = () => {};

  /** The store at `path`: open, and written once. */
  constructor({ db, file, lock }: Connection, path: string) {
    this.#db = db;
    this.#lock = lock;
    this.#file = path;
    this.#wal = `${file}-wal`;
    const files = [path, this.#wal, `${file}-shm`];
    this.#opened = new Map(files.map((path) => [path, identityOf(path)]));
  }

  readonly read: Read = (work) => this.#noticing(() => work(this.#db));

  readonly write: Write = (work) =>
    this.#noticing(async () => {
      this.#refuseMoved();
      if (sizeOf(this.#wal) < this.#walBytes) await this.#refuseCut();
      const result = await this.#db.transaction().execute(work);
      this.#walBytes = sizeOf(this.#wal);
      return result;
    });

  /** Gives back what a WAL took that grew, while the disk was full or somebody read for long: it could keep the disk full by itself. */
  async shrinkWal(): Promise<void> {
    if (!this.#wasFull && sizeOf(this.#wal) <= largeWalBytes) return;
    try {
      const { rows } = await sql<{ busy: number }>`PRAGMA wal_checkpoint(TRUNCATE)`.execute(this.#db);
      // Busy: somebody reads what it holds. It is tried again at the next look.
      if (rows[0]?.busy === 0) this.#wasFull = false;
      this.#walBytes = sizeOf(this.#wal);
    } catch {
      // As full as before, or worse: the next write says what it is.
    }
  }

  get trouble(): StoreTrouble {
    return this.#trouble;
  }

  /** Called after each failure. There is one listener. */
  onTrouble(listener: () => void): void {
    this.#listener = listener;
  }

  /** Something could not be read or written; what goes through here notices that by itself. */
  notice(error: unknown): void {
    const failure = failureOf(this.#file, error);
    this.#wasFull ||= isFull(error);
    const { failures, newest } = this.#trouble;
    this.#trouble = { failures: failures + 1, newest: newest?.lasting && !failure.lasting ? newest : failure };
    this.#listener();
  }

  async #noticing<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      this.notice(error);
      throw error;
    }
  }

  /** A write to a file that has no name any more would succeed, and be lost; without the lock it would not be the only one. */
  #refuseMoved(): void {
    for (const [path, identity] of this.#opened) {
      if (identityOf(path) !== identity) throw path === this.#file ? movedError(path) : lostWalError(path);
    }
    this.#lock.hold();
  }

  /**
   * A tool that empties the WAL has copied it into the file first; whoever cut it short took writes away, and the next
   * checkpoint would copy the gap into the file. SQLite knows which it was: it can't copy what is not there.
   */
  async #refuseCut(): Promise<void> {
    try {
      await sql`PRAGMA wal_checkpoint(PASSIVE)`.execute(this.#db);
    } catch (error) {
      throw isLocked(error) ? error : cutShortError(this.#wal);
    }
  }
}
