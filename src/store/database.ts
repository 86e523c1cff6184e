// Interface of a database under the store, implemented by `sqlite.ts` and `postgres.ts`, and its lease.
import type { StoreFailure, StoreTrouble } from '../core/store-failure.ts';
import type { EpochMs } from '../core/time.ts';
import { NotOursError, refusalOf } from './failure.ts';
import type { OutageNote } from './file/outage-note.ts';
import type { Db } from './schema/tables.ts';

export type Transact = <Result>(work: (trx: Db) => Promise<Result>) => Promise<Result>;

export interface FileCare {
  /** Resolves once everything that was committed before the call is on the disk. */
  synced(): Promise<void>;
  /** Gives back disk space beyond the usual size. Called from time to time; never rejects. */
  tidy(): Promise<void>;
  /** Returns null if no damage was found, or if the last check was too recent. Never rejects. */
  lookForDamage(now: EpochMs): Promise<Error | null>;
  /** Frees a small amount of unused space, in the caller's transaction. Returns false if none is left. */
  freeSpace(trx: Db): Promise<boolean>;
}

export interface Database {
  readonly db: Db;
  /** Runs a transaction, and refuses it if this process no longer owns the store. */
  readonly fence: Transact;
  readonly lease: Lease;
  failureOf(error: unknown): StoreFailure;
  /** Converts an error for the caller of a read or write, where people may read it. */
  forCaller(error: unknown): unknown;
  sentence(error: unknown): Error;
  readonly fileCare: FileCare | null;
  readonly note: OutageNote;
  /** Risks to the store from other users or from a failure of its server: sentences for the log. */
  readonly warnings: readonly string[];
  /** Other facts about the opening of the store: sentences for the log. */
  readonly news: readonly string[];
  close(): Promise<void>;
}

// The only access to the tables: every read and every transaction of the store goes through the gate, which records
// each failure.

export class Gate {
  readonly #database: Database;
  #failures = 0;
  #newest: StoreFailure | null = null;
  #isOwed = false;
  #listener: () => void = () => {};

  constructor(database: Database) {
    this.#database = database;
  }

  readonly read: Transact = (work) => this.#noticing(() => work(this.#database.db));

  readonly write: Transact = async (work) => {
    const result = await this.#noticing(() => this.#database.fence(work));
    this.#isOwed = false;
    return result;
  };

  /** Writes to prove that the store is reached. This does not prove that a failed statement works again. */
  async prove(work: (trx: Db) => Promise<void>): Promise<void> {
    await this.#noticing(() => this.#database.fence(work));
    if (this.#newest?.untilWritten) this.#isOwed = false;
  }

  get trouble(): StoreTrouble {
    const isOver = this.#newest === null || (!this.#newest.lasting && !this.#isOwed);
    return { failures: this.#failures, newest: this.#newest, isOver };
  }

  onTrouble(listener: () => void): void {
    this.#listener = listener;
  }

  /** Records a failure, also one of a heartbeat or of a check for damage, which do not go through the gate. */
  notice(error: unknown): void {
    if (error instanceof NotOursError) return;
    const failure = refusalOf(error) ?? this.#database.failureOf(error);
    this.#failures += 1;
    if (failure.lasting || !this.#newest?.lasting) this.#newest = failure;
    this.#isOwed = true;
    this.#listener();
  }

  /** Clears failures after a long time without a new one, although no later access proved that they ended. */
  forgetTrouble(): void {
    this.#isOwed = false;
    if (!this.#newest?.lasting) this.#newest = null;
  }

  /** A power cut undoes nothing that was returned: neither a write, nor what a read saw right after a COMMIT. */
  async #noticing<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      const result = await work();
      await this.#database.fileCare?.synced();
      return result;
    } catch (error) {
      this.notice(error);
      throw this.#database.forCaller(error);
    }
  }
}

// The lease of the active process: the right to write to the store and to change mailboxes. A SQLite store belongs to
// one process. On PostgreSQL one process is active and others stand by (postgres/lease.ts, docs/postgresql.md).

export interface Lease {
  readonly isShared: boolean;
  /** True if the previous process ended without releasing the lease: its last POST may still be in progress. */
  readonly isInherited: boolean;
  readonly isHeld: boolean;
  /** True if a POST that starts now ends before another process can take the lease. */
  mayPost(): boolean;
  /** Reason why this process can't renew an expired lease, or null if it has the lease. */
  readonly overdue: Error | null;
}

export const ownLease: Lease = {
  isShared: false,
  isInherited: false,
  isHeld: true,
  mayPost: () => true,
  overdue: null,
};

/** Longest duration of a POST with its response. */
export const postMs = 10_000;
const readBackMs = 15_000;
/** After a takeover, a mailbox with an open intent is left alone for this long: the POST may still be in progress. */
export const inheritedWaitMs = postMs + readBackMs;
const largeSkewMs = 2_000;
export const longestSkewMs = 30_000;

export type Skew = 'small' | 'large' | 'excessive';

/** `aheadMs`: milliseconds by which the database's clock is ahead of this machine's. */
export function skewOf(aheadMs: number): Skew {
  const ms = Math.abs(aheadMs);
  return ms > longestSkewMs ? 'excessive' : ms > largeSkewMs ? 'large' : 'small';
}
