// Interface of a database under the store, implemented by `sqlite.ts` and `postgres.ts`.
import type { StoreFailure, StoreTrouble } from '../core/store-failure.ts';
import { type FailedStatements, NotOursError, refusalOf } from './failure.ts';
import type { OutageNote } from './file/outage-note.ts';
import type { Lease } from './lease.ts';
import type { LeaseOptions } from './postgres/lease.ts';
import type { Db } from './schema/tables.ts';

/** Runs the statements of a business event as one transaction. */
export type Transact = <Result>(work: (trx: Db) => Promise<Result>) => Promise<Result>;

/** Waits for `ms` milliseconds; never rejects. */
export type Sleep = (ms: number) => Promise<void>;

/** Dependencies of a store in a long-running process. A command passes none. */
export interface Rim {
  /** Waits between attempts to reconnect. Lost connections are not retried if absent. */
  readonly sleep?: Sleep;
  /** Options to wait for the lease and to renew it, if the store has a lease. Absent in a command. */
  readonly lease?: LeaseOptions;
}

/** Upkeep that a file needs and a server does by itself. */
export interface FileCare {
  /** Gives back disk space beyond the usual size. Called from time to time; never rejects. */
  tidy(): Promise<void>;
  /**
   * Checks the pages that are not read or written at the moment. Returns null if no damage was found, or if the last
   * check was too recent. Never rejects.
   */
  lookForDamage(): Promise<Error | null>;
  /** Frees a small amount of unused space, in the caller's transaction. Returns false if none is left. */
  freeSpace(trx: Db): Promise<boolean>;
}

export interface Database {
  /** Connection for reads. */
  readonly db: Db;
  /**
   * Runs a transaction. Every transaction goes through here, and is refused if this process no longer owns the store.
   */
  readonly fence: Transact;
  readonly lease: Lease;
  /** Statements of reads and writes that failed. */
  readonly statements: FailedStatements;
  /** Explains a failed read or write to people. Called once per failure. */
  failureOf(error: unknown): StoreFailure;
  /** Converts an error for the caller of a read or write, where people may read it. */
  forCaller(error: unknown): unknown;
  /** Describes a failure to open the store, or to read it at start, in one sentence with a remedy. */
  sentence(error: unknown): Error;
  /** Upkeep of a store in a file, or null for a server, which does it by itself. */
  readonly fileCare: FileCare | null;
  /** Outage note beside the store. */
  readonly note: OutageNote;
  /** Risks to the store from other users or from a failure of its server: sentences for the log. */
  readonly warnings: readonly string[];
  /** Other facts about the opening of the store: sentences for the log. */
  readonly news: readonly string[];
  close(): Promise<void>;
}

// The only access to the tables: every read and every transaction of the store goes through the gate, which records
// each failure.

type AccessKind = 'read' | 'write';

/** Runs queries. */
type Read = <Result>(work: (db: Db) => Promise<Result>) => Promise<Result>;

export class Gate {
  readonly #database: Database;
  #failures = 0;
  #newest: StoreFailure | null = null;
  /** True if a statement caused the newest failure, which then ends when the same statement succeeds. */
  #isOfStatement = false;
  /**
   * Kinds of access that failed and have not succeeded since. The server may refuse connections that read while it
   * accepts those that write.
   */
  readonly #failing = new Set<AccessKind>();
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

  /** Records a failed read or write that did not go through the gate. */
  notice(error: unknown): void {
    if (error instanceof NotOursError) return;
    const failure = refusalOf(error) ?? this.#database.failureOf(error);
    this.#failures += 1;
    if (failure.lasting || !this.#newest?.lasting) this.#newest = failure;
    this.#isOfStatement = this.#database.statements.has(error);
    this.#wroteSince = false;
    this.#listener();
  }

  /** Records why this process lost its duty, or null if it has it. Heartbeats do not go through the gate. */
  heartbeat(overdue: Error | null): void {
    this.#heartbeatFails = overdue !== null;
    if (overdue) this.notice(overdue);
  }

  /** Clears failures after a long time without a new one, although no later access proved that they ended. */
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

  async #noticing<Result>(kind: AccessKind, work: () => Promise<Result>): Promise<Result> {
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
