// The store in a PostgreSQL database: one process is active, others stand by.
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { Kysely } from 'kysely';
import { errorText } from '../core/nearest.ts';
import type { PostgresPlace, StoreFailure } from '../core/store-failure.ts';
import type { EpochMs } from '../core/time.ts';
import type { Database, Transact } from './database.ts';
import { AtRiskError, NotOursError, StoreError } from './failure.ts';
import { lockedOrNull, nameOfHolder } from './file/lock.ts';
import { OutageNote } from './file/outage-note.ts';
import { create, lockOf } from './file/place.ts';
import { clientConfig, NewestServer, poolOf, reached, StoreDialect } from './postgres/connection.ts';
import { serverDoubts } from './postgres/examination.ts';
import { failureOf, forCaller, leavesDoubt, openingError, postgresError } from './postgres/failure.ts';
import { fenceVersion, type LeaseOptions, PostgresLease, raiseFence } from './postgres/lease.ts';
import { migrationStepMs, prepare, upgrade } from './postgres/setup.ts';
import type { Db, Tables } from './schema/tables.ts';

/** Timeout of a heartbeat, after which its connection is closed: a late heartbeat is worth less than the next one. */
const heartbeatMs = 4_000;
const askAgainMs = 1_000;

const restart = 'Start PostgreSQL or repair the network; Warmwarden then continues by itself.';

export async function openPostgres(place: PostgresPlace, now: EpochMs, lease?: LeaseOptions): Promise<Database> {
  const at = await reached(place).catch((error: unknown) => Promise.reject(openingError(place, error)));
  const opened = new PostgresDatabase(at, now, lease ?? null);
  try {
    await opened.open();
    return opened;
  } catch (error) {
    await opened.close();
    throw openingError(at, error);
  }
}

class PostgresDatabase implements Database {
  readonly #place: PostgresPlace;
  /** Null in a command, which waits neither for the lease nor for a lost connection, and keeps no files. */
  readonly #options: LeaseOptions | null;
  readonly lease: PostgresLease;
  readonly #name: string;
  /** Single connection, so that all work runs in the order of the requests, as on SQLite. */
  readonly db: Db;
  /** Connection for heartbeats, which must not wait behind other work. */
  readonly #heartbeats: Db;
  warnings: readonly string[] = [];
  readonly news: readonly string[] = [];
  readonly fileCare = null;
  /** While the outcome of a COMMIT is unknown, another transaction would increment the version that shows it. */
  #isInDoubt = false;
  /** Newest committed version. A server with an older one has lost later transactions. */
  #committed = 0;
  #closed = false;
  #beside: DatabaseSync | null = null;
  #note: OutageNote | null = null;

  constructor(place: PostgresPlace, now: EpochMs, options: LeaseOptions | null) {
    const config = clientConfig(place);
    this.#place = place;
    this.#options = options;
    this.#name = options?.name ?? nameOfHolder(now);
    const newest = new NewestServer(place, options !== null);
    this.db = new Kysely<Tables>({ dialect: new StoreDialect({ pool: newest.pool(config) }) });
    const pool = newest.pool({ ...config, connectionTimeoutMillis: heartbeatMs, query_timeout: heartbeatMs });
    this.#heartbeats = new Kysely<Tables>({ dialect: new StoreDialect({ pool }, { statement: '3s', lock: '500ms' }) });
    this.lease = new PostgresLease(place, this.#heartbeats, options);
  }

  async open(): Promise<void> {
    if (this.#options) this.#beside = besideLock(this.#place.path);
    await this.#setUp(prepare);
    await this.lease.take(this.#name);
    await this.#setUp(upgrade);
    this.warnings = await serverDoubts(this.db);
    inFolder(dirname(this.#place.path), () => {});
  }

  async #setUp(step: (db: Db, place: PostgresPlace) => Promise<void>): Promise<void> {
    const config = { ...clientConfig(this.#place), query_timeout: migrationStepMs };
    const db = new Kysely<Tables>({ dialect: new StoreDialect({ pool: poolOf(config, 1) }) });
    await step(db, this.#place).finally(() => db.destroy());
  }

  get note(): OutageNote {
    this.#note ??= new OutageNote(this.#place.path);
    return this.#note;
  }

  readonly fence: Transact = async (work) => {
    const { fence } = this.lease;
    const trx = await this.db.startTransaction().execute();
    const undo = () => trx.rollback().execute();
    let version: number;
    let result: Awaited<ReturnType<typeof work>>;
    try {
      if (this.#isInDoubt) throw new AtRiskError('the outcome of a transaction is not known yet', restart);
      version = (await raiseFence(trx, fence)) ?? this.#refuse('another process has taken the lease of this one');
      if (version <= this.#committed) this.#refuse('PostgreSQL lost what this process had stored last');
      result = await work(trx);
    } catch (error) {
      await undo();
      throw error;
    }
    try {
      await trx.commit().execute();
    } catch (error) {
      this.#isInDoubt = leavesDoubt(error);
      await undo();
      if (!this.#isInDoubt || !(await this.#wasCommitted(fence, version))) throw error;
    } finally {
      this.#isInDoubt = false;
    }
    this.#committed = version;
    return result;
  };

  #refuse(why: string): never {
    this.lease.lose(why);
    throw new NotOursError(why, 'Warmwarden starts again by itself.');
  }

  failureOf(error: unknown): StoreFailure {
    return failureOf(this.#place, error);
  }

  forCaller(error: unknown): unknown {
    return forCaller(this.#place, error);
  }

  sentence(error: unknown): Error {
    return postgresError(this.#place, error);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.lease.release();
    await Promise.all([this.db.destroy(), this.#heartbeats.destroy()]);
    this.#beside?.close();
  }

  /** Everything waits for the result, because committed actions would otherwise be repeated. */
  async #wasCommitted(fence: number, version: number): Promise<boolean> {
    for (;;) {
      try {
        return (await fenceVersion(this.db, fence)) === version;
      } catch (error) {
        if (this.#closed || this.#options === null) throw error;
      }
      await this.#options.clock.sleep(askAgainMs);
    }
  }
}

/** Locks the socket and the note of an outage. The lock is free at once after kill -9. */
function besideLock(path: string): DatabaseSync {
  const folder = dirname(path);
  const held = inFolder(folder, () => {
    create(lockOf(path));
    return lockedOrNull(lockOf(path));
  });
  if (held) return held;
  throw new StoreError(
    `The folder ${folder} is in use by another Warmwarden process: give each process on this machine a store.directory of its own.`,
  );
}

/** Throws StoreError, which is not mistaken for a failure of PostgreSQL. */
function inFolder<Result>(folder: string, work: () => Result): Result {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return work();
  } catch (error) {
    const why = errorText(error);
    throw new StoreError(
      `The folder ${folder} can't be used: ${why}. Set store.directory to a folder that Warmwarden can write to.`,
    );
  }
}
