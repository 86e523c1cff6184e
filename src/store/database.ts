// What the store needs of a database, whichever it is: `sqlite.ts` and `postgres.ts` each make one.
import type { StoreFailure, StoreTrouble } from '../core/store-failure.ts';
import { type FailedStatements, NotOursError, refusalOf } from './failure.ts';
import type { OutageNote } from './file/outage-note.ts';
import type { Lease } from './lease.ts';
import type { LeaseOptions } from './postgres/lease.ts';
import type { Db } from './schema/tables.ts';
import type { SizesAsked, StoreSizes } from './sizes.ts';

/** Runs a business event's statements as one transaction: all of them, or none. */
export type Transact = <Result>(work: (trx: Db) => Promise<Result>) => Promise<Result>;

/** Waits so many milliseconds; never rejects. */
export type Sleep = (ms: number) => Promise<void>;

/** What a store of a process that runs for long needs of the world; a command needs nothing. */
export interface Rim {
  /** How a lost connection is waited for; absent: it is not. */
  readonly sleep?: Sleep;
  /** It waits for the lease and prolongs it, where there is one; absent: a command. */
  readonly lease?: LeaseOptions;
}

/** What a store in a file needs, and a server does by itself. */
export interface FileCare {
  /** From time to time: gives back what it took beyond its measure. Never rejects. */
  tidy(): Promise<void>;
  /** Looks for damage in pages that are not read or written at the moment; null if none is found, or if it is too soon to look. Never rejects. */
  lookForDamage(): Promise<Error | null>;
  /** One small step of giving freed space back; false when nothing is left. Within the caller's transaction. */
  freeSpace(trx: Db): Promise<boolean>;
}

export interface Database {
  /** For reads. */
  readonly db: Db;
  /** Every transaction goes through here. It is refused when the store is no longer this process's own. */
  readonly fence: Transact;
  readonly lease: Lease;
  /** Of its reads and writes. */
  readonly statements: FailedStatements;
  /** What a failed read or write means for people. Called once for each. */
  failureOf(error: unknown): StoreFailure;
  /** The error that the caller of a read or write gets instead of this one: people read it. */
  forCaller(error: unknown): unknown;
  /** One sentence with a remedy, for a failure while it is opened or read at start. */
  sentence(error: unknown): Error;
  /** Upkeep of a store in a file; null for a server, which does it by itself. */
  readonly fileCare: FileCare | null;
  /** Beside the store. */
  readonly note: OutageNote;
  /** What other users could do to the store, or a failure of its server could: sentences for the log. */
  readonly warnings: readonly string[];
  /** What else there is to say of how it was opened: sentences for the log. */
  readonly news: readonly string[];
  close(): Promise<void>;
}

/** A database that is open for reading. */
export interface ReadableDatabase {
  readonly db: Db;
  /** One sentence for a read that failed. */
  readonly sentence: (error: unknown) => Error;
  /** The schema that it has. */
  readonly schema: () => Promise<number>;
  readonly sizes: (asked: SizesAsked) => Promise<StoreSizes>;
  readonly problems: () => Promise<readonly string[]>;
}

// The only way to the tables: every read and every transaction of the store goes through here, and each failure is noticed.

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

  readonly write: Transact = (work) =>
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
