// The only way to the tables: every read and every transaction of the store goes through here, and each failure is noticed.
import type { Kysely } from 'kysely';
import type { StoreTrouble } from '../model/store-failure.ts';
import type { Connection } from './connection.ts';
import { failureOf, movedError } from './failure.ts';
import { identityOf } from './identity.ts';
import type { StoreLock } from './lock.ts';
import type { Tables } from './schema.ts';

type Db = Kysely<Tables>;

/** Runs a business event's statements as one transaction: all of them, or none. */
type Write = <Result>(work: (trx: Db) => Promise<Result>) => Promise<Result>;

/** Runs queries. */
type Read = <Result>(work: (db: Db) => Promise<Result>) => Promise<Result>;

export class Gate {
  readonly #db: Db;
  readonly #lock: StoreLock;
  readonly #file: string;
  /** Device and inode of the file, its WAL and its index, as they were when it was opened. */
  readonly #opened: ReadonlyMap<string, string>;
  #trouble: StoreTrouble = { failures: 0, newest: null };
  #listener: () => void = () => {};

  /** The store at `path`: open, and written once. */
  constructor({ db, file, lock }: Connection, path: string) {
    this.#db = db;
    this.#lock = lock;
    this.#file = path;
    const files = [path, `${file}-wal`, `${file}-shm`];
    this.#opened = new Map(files.map((path) => [path, identityOf(path)]));
  }

  readonly read: Read = (work) => this.#noticing(() => work(this.#db));

  readonly write: Write = (work) =>
    this.#noticing(() => {
      this.#refuseMoved();
      return this.#db.transaction().execute(work);
    });

  get trouble(): StoreTrouble {
    return this.#trouble;
  }

  /** Called after each failure. There is one listener. */
  onTrouble(listener: () => void): void {
    this.#listener = listener;
  }

  async #noticing<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      const failure = failureOf(this.#file, error);
      const { failures, newest } = this.#trouble;
      this.#trouble = { failures: failures + 1, newest: newest?.lasting && !failure.lasting ? newest : failure };
      this.#listener();
      throw error;
    }
  }

  /** A write to a file that has no name any more would succeed, and be lost; without the lock it would not be the only one. */
  #refuseMoved(): void {
    for (const [path, identity] of this.#opened) if (identityOf(path) !== identity) throw movedError(path);
    this.#lock.hold();
  }
}
