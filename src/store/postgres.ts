// The store in a PostgreSQL database: one process is active, others stand by.
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { Kysely, type PostgresPool, sql } from 'kysely';
import { errorText } from '../core/nearest.ts';
import type { PostgresPlace, StoreFailure } from '../core/store-failure.ts';
import type { EpochMs } from '../core/time.ts';
import type { Database, Rim, Sleep, Transact } from './database.ts';
import { AtRiskError, FailedStatements, NotOursError, StoreError } from './failure.ts';
import { lockedOrNull, nameOfHolder } from './file/lock.ts';
import { OutageNote } from './file/outage-note.ts';
import { create, lockOf } from './file/place.ts';
import { clientConfig, poolOf, reached, StoreDialect } from './postgres/connection.ts';
import { doubtsOf } from './postgres/examination.ts';
import { failureOf, forCaller, isAway, isReadOnly, openingError, postgresError } from './postgres/failure.ts';
import { fenceVersion, PostgresLease, raiseFence } from './postgres/lease.ts';
import { Reach } from './postgres/reach.ts';
import { migrationStepMs, prepare, upgrade } from './postgres/setup.ts';
import type { Db, Tables } from './schema/tables.ts';

/** Reads beside one another. */
const readers = 4;
/** After that, a heartbeat is given up with its connection: a late one is worth less than the next one. */
const heartbeatMs = 4_000;
/** Between two attempts to learn what became of a COMMIT. */
const askAgainMs = 1_000;

const restart = 'Start PostgreSQL or repair the network; Warmwarden then continues by itself.';

/** Opens and migrates the database. Throws StoreError or NewerStoreError, each with one sentence. */
export async function openPostgres(place: PostgresPlace, now: EpochMs, rim: Rim = {}): Promise<Database> {
  const at = await reached(place).catch((error: unknown) => Promise.reject(openingError(place, error)));
  const opened = new PostgresDatabase(at, now, rim);
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
  readonly #sleep: Sleep | null;
  readonly lease: PostgresLease;
  /** For people. */
  readonly #name: string;
  readonly #reach: Reach;
  /** One connection: transactions follow one another in the order in which they were asked for, as on SQLite. */
  readonly #writer: Db;
  /** For heartbeats: what must not wait behind other work. */
  readonly #heartbeats: Db;
  readonly db: Db;
  warnings: readonly string[] = [];
  readonly news: readonly string[] = [];
  readonly fileCare = null;
  readonly statements = new FailedStatements();
  /** While nobody knows what became of a COMMIT: another transaction would raise the version that tells it. */
  #isInDoubt = false;
  /** The newest version that was committed. A server that shows an older one has lost what came after it. */
  #committed = 0;
  #closed = false;
  /** A process that has the database alone keeps nothing beside it. */
  readonly #keepsBeside: boolean;
  #beside: DatabaseSync | null = null;
  #note: OutageNote | null = null;

  constructor(place: PostgresPlace, now: EpochMs, { sleep, lease }: Rim) {
    const config = clientConfig(place);
    this.#place = place;
    this.#sleep = sleep ?? null;
    this.#keepsBeside = lease !== undefined;
    this.#name = lease?.name ?? nameOfHolder(now);
    this.#reach = new Reach(place, this.#keepsBeside);
    const urgent = { ...config, connectionTimeoutMillis: heartbeatMs, query_timeout: heartbeatMs };
    const pool = this.#reach.pool(urgent, 1, 'writes');
    this.#heartbeats = new Kysely<Tables>({ dialect: new StoreDialect({ pool }, { statement: '3s', lock: '500ms' }) });
    this.lease = new PostgresLease(place, this.#heartbeats, lease ?? null);
    const kysely = (pool: PostgresPool) =>
      new Kysely<Tables>({ dialect: new StoreDialect({ pool }), log: this.statements.listen });
    this.#writer = kysely(this.#reach.pool(config, 1, 'writes'));
    this.db = kysely(this.#reach.pool(config, readers, 'reads'));
  }

  async open(): Promise<void> {
    if (this.#keepsBeside) this.#beside = besideLock(this.#place.path);
    await this.#setUp(prepare);
    await this.lease.take(this.#name);
    await this.#setUp(upgrade);
    // All of its connections: one too many is refused now, and not in the middle of the work. The one that writes comes first, for
    // those that read are opened again after it.
    await sql`SELECT 1`.execute(this.#writer);
    await Promise.all(Array.from({ length: readers }, () => sql`SELECT pg_sleep(0)`.execute(this.db)));
    this.warnings = await doubtsOf(this.db, this.#place);
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
    const trx = await this.#writer.startTransaction().execute();
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
      this.#isInDoubt = isAway(error);
      await undo();
      if (!this.#isInDoubt || !(await this.#wasCommitted(fence, version))) throw error;
    } finally {
      this.#isInDoubt = false;
    }
    this.#committed = version;
    return result;
  };

  /** What this process has in mind is not what is stored: it ends. */
  #refuse(why: string): never {
    this.lease.lose(why);
    throw new NotOursError(why, 'Warmwarden starts again by itself.');
  }

  failureOf(error: unknown): StoreFailure {
    // After a failover the connections lead to what is a standby now.
    if (isReadOnly(error)) this.#reach.renew();
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
    await Promise.all([this.#writer.destroy(), this.db.destroy(), this.#heartbeats.destroy()]);
    this.#beside?.close();
  }

  /**
   * Its reply was lost. Nothing goes on before it is known: what was committed would be done twice. A server that refuses the
   * question says as little as one that is away.
   */
  async #wasCommitted(fence: number, version: number): Promise<boolean> {
    for (;;) {
      try {
        return (await fenceVersion(this.db, fence)) === version;
      } catch (error) {
        if (this.#closed || this.#sleep === null) throw error;
      }
      await this.#sleep(askAgainMs);
    }
  }
}

/**
 * The lock on what a process keeps beside its store: its socket, and the note of an outage. Free at once after kill -9. `path`: what the
 * names of the files begin with. Throws StoreError when another process of this machine has it.
 */
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

/** Creates the folder if need be, and does `work` in it. Throws StoreError, which is never taken for a failure of PostgreSQL. */
function inFolder<Result>(folder: string, work: () => Result): Result {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return work();
  } catch (error) {
    const why = errorText(error);
    throw new StoreError(
      `The folder ${folder} can't be used: ${why}. Set store.directory to a folder that Warmwarden may write to.`,
    );
  }
}
