// The only way to the tables: every read and every transaction of the store goes through here, and each failure is noticed.
import type { Kysely } from 'kysely';
import type { StoreTrouble } from '../model/store-failure.ts';
import type { Database, Write } from './database.ts';
import { NotOursError, refusalOf } from './failure.ts';
import type { Tables } from './schema/tables.ts';

type Db = Kysely<Tables>;

/** Runs queries. */
type Read = <Result>(work: (db: Db) => Promise<Result>) => Promise<Result>;

export class Gate {
  readonly #database: Database;
  #trouble: StoreTrouble = { failures: 0, newest: null, wroteSince: false };
  #listener: () => void = () => {};

  constructor(database: Database) {
    this.#database = database;
  }

  readonly read: Read = (work) => this.#noticing(() => work(this.#database.db));

  readonly write: Write = (work, scopes) =>
    this.#noticing(async () => {
      const result = await this.#database.fence(work, scopes);
      if (!this.#trouble.wroteSince) this.#trouble = { ...this.#trouble, wroteSince: true };
      return result;
    });

  /** One small step of giving freed space back; false when nothing is left. */
  freeSpace(): Promise<boolean> {
    return this.write((trx) => this.#database.freeSpace(trx));
  }

  /** The id of this replica; null: the process has the store for itself. */
  get self(): string | null {
    return this.#database.membership.self;
  }

  /** See Database. */
  get locksRows(): boolean {
    return this.#database.locksRows;
  }

  /** See Database. */
  notify(trx: Db): Promise<void> {
    return this.#database.notify(trx);
  }

  /** See Database. */
  listen(listener: () => void): void {
    this.#database.listen(listener);
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
    if (error instanceof NotOursError) return;
    const failure = refusalOf(error) ?? this.#database.failureOf(error);
    const { failures, newest } = this.#trouble;
    const worst = newest?.lasting && !failure.lasting ? newest : failure;
    this.#trouble = { failures: failures + 1, newest: worst, wroteSince: false };
    this.#listener();
  }

  async #noticing<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      this.notice(error);
      throw this.#database.forCaller(error);
    }
  }
}
