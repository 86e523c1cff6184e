// The only way to the tables: every read and every transaction of the store goes through here, and each failure is noticed.
import type { StoreFailure, StoreTrouble } from '../core/store-failure.ts';
import type { Database, Write } from './database.ts';
import { NotOursError, refusalOf } from './failure.ts';
import type { Db } from './schema/tables.ts';

type Kind = 'read' | 'write';

/** Runs queries. */
type Read = <Result>(work: (db: Db) => Promise<Result>) => Promise<Result>;

export class Gate {
  readonly #database: Database;
  #failures = 0;
  #newest: StoreFailure | null = null;
  /** Whether a statement failed with the newest failure: then the same statement ends it. */
  #isOfStatement = false;
  /** What failed, and has not succeeded since: connections that read may be refused while those that write are not. */
  readonly #failing = new Set<Kind>();
  #wroteSince = false;
  #heartbeatFails = false;
  #listener: () => void = () => {};

  constructor(database: Database) {
    this.#database = database;
  }

  readonly read: Read = (work) => this.#noticing('read', () => work(this.#database.db));

  readonly write: Write = (work) =>
    this.#noticing('write', async () => {
      const result = await this.#database.fence(work);
      this.#wroteSince = true;
      return result;
    });

  get trouble(): StoreTrouble {
    return { failures: this.#failures, newest: this.#newest, isOver: this.#isOver };
  }

  /** Called after each failure. There is one listener. */
  onTrouble(listener: () => void): void {
    this.#listener = listener;
  }

  /** Something could not be read or written; what goes through here notices that by itself. */
  notice(error: unknown): void {
    if (error instanceof NotOursError) return;
    const failure = refusalOf(error) ?? this.#database.failureOf(error);
    this.#failures += 1;
    if (failure.lasting || !this.#newest?.lasting) this.#newest = failure;
    this.#isOfStatement = this.#database.statements.has(error);
    this.#wroteSince = false;
    this.#listener();
  }

  /** Why this process does not have its work, or null: it has it. A heartbeat does not go through here. */
  heartbeat(overdue: Error | null): void {
    this.#heartbeatFails = overdue !== null;
    if (overdue) this.notice(overdue);
  }

  /** Nothing has failed for long: nobody waits any more for what failed before to succeed. */
  forgetTrouble(): void {
    this.#database.statements.forget();
    this.#failing.clear();
    if (!this.#newest?.lasting) this.#newest = null;
  }

  get #isOver(): boolean {
    if (!this.#newest) return true;
    if (this.#newest.lasting || this.#heartbeatFails) return false;
    if (this.#newest.untilWritten) return this.#wroteSince && this.#failing.size === 0;
    return this.#isOfStatement && this.#wroteSince && this.#database.statements.areOver;
  }

  async #noticing<Result>(kind: Kind, work: () => Promise<Result>): Promise<Result> {
    try {
      const result = await work();
      this.#failing.delete(kind);
      return result;
    } catch (error) {
      if (!(error instanceof NotOursError)) this.#failing.add(kind);
      this.notice(error);
      throw this.#database.forCaller(error);
    }
  }
}
