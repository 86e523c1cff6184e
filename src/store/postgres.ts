// The store in a PostgreSQL database, which this process holds alone.
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { Kysely, sql } from 'kysely';
import type { StoreFailure } from '../model/store-failure.ts';
import type { PostgresPlace } from '../model/store-place.ts';
import type { EpochMs } from '../model/time.ts';
import { commitOutcome, type Lease } from '../replicas/commit-outcome.ts';
import { SoleMembership } from '../replicas/sole.ts';
import type { Database, Sleep, Write } from './database.ts';
import { nameOfHolder } from './file/lock.ts';
import { Admission } from './postgres/admission.ts';
import { clientConfig, poolOf } from './postgres/connecting.ts';
import { StoreDialect } from './postgres/dialect.ts';
import { failureOf, isAway, isReadOnly, postgresError } from './postgres/failure.ts';
import { channel, Listening } from './postgres/listening.ts';
import { doubtsOf, setUp } from './postgres/setup.ts';
import { setMeta } from './schema/migrations.ts';
import type { Tables } from './schema/tables.ts';

/** Reads beside one another. */
const readers = 4;
/** Between two attempts to learn what became of a COMMIT. */
const askAgainMs = 1_000;

/** Opens and migrates the database. Throws StoreError or NewerStoreError, each with one sentence. */
export async function openPostgres(place: PostgresPlace, now: EpochMs, sleep?: Sleep): Promise<Database> {
  const opened = new PostgresDatabase(place, sleep);
  try {
    await opened.open(now);
    return opened;
  } catch (error) {
    await opened.close();
    throw postgresError(place, error);
  }
}

class PostgresDatabase implements Database {
  readonly membership = new SoleMembership();
  readonly #place: PostgresPlace;
  readonly #sleep: Sleep | null;
  readonly #admission: Admission;
  /** One connection: transactions follow one another in the order in which they were asked for, as on SQLite. */
  readonly #writer: Kysely<Tables>;
  readonly db: Kysely<Tables>;
  warnings: readonly string[] = [];
  readonly locksRows = true;
  readonly #listening: Listening;
  #closed = false;

  constructor(place: PostgresPlace, sleep: Sleep | undefined) {
    const config = clientConfig(place);
    this.#place = place;
    this.#sleep = sleep ?? null;
    this.#admission = new Admission(place);
    this.#listening = new Listening(place);
    const kysely = (most: number) => new Kysely<Tables>({ dialect: new StoreDialect({ pool: poolOf(config, most) }) });
    this.#writer = kysely(1);
    this.db = kysely(readers);
  }

  async open(now: EpochMs): Promise<void> {
    await this.#admission.lock(this.db);
    await setUp(this.#writer, this.#place);
    await this.#admission.enter(this.#writer);
    await setMeta(this.#writer, 'holder', nameOfHolder(now));
    this.warnings = await doubtsOf(this.db);
    mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
  }

  get path(): string {
    return this.#place.path;
  }

  readonly fence: Write = async (work) => {
    await this.#admission.hold();
    const trx = await this.#writer.startTransaction().execute();
    const undo = () =>
      trx
        .rollback()
        .execute()
        .catch(() => {});
    let expected: Lease;
    let result: Awaited<ReturnType<typeof work>>;
    try {
      expected = await this.#admission.raise(trx);
      result = await work(trx);
    } catch (error) {
      await undo();
      throw error;
    }
    try {
      await trx.commit().execute();
    } catch (error) {
      await undo();
      if (!isAway(error) || !(await this.#wasCommitted(expected))) throw error;
    }
    return result;
  };

  failureOf(error: unknown): StoreFailure {
    // After a failover the connections lead to what is a standby now.
    if (isReadOnly(error)) void this.#leave();
    return failureOf(this.#place, error);
  }

  sentence(error: unknown): Error {
    return postgresError(this.#place, error);
  }

  /** PostgreSQL cleans up by itself. */
  async tidy(): Promise<void> {}

  async freeSpace(): Promise<boolean> {
    return false;
  }

  async notify(trx: Kysely<Tables>): Promise<void> {
    await sql`SELECT pg_notify(${channel}, '')`.execute(trx);
  }

  listen(listener: () => void): void {
    this.#listening.listen(listener);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#listening.close();
    await Promise.all([this.#writer.destroy(), this.db.destroy()]);
    await this.#admission.close();
  }

  /** Its reply was lost. Nothing goes on before it is known: what was committed would be done twice. */
  async #wasCommitted(expected: Lease): Promise<boolean> {
    for (;;) {
      try {
        return commitOutcome(expected, await this.#admission.found(this.db)) === 'committed';
      } catch (error) {
        if (this.#closed || this.#sleep === null || !isAway(error)) throw error;
      }
      await this.#sleep(askAgainMs);
    }
  }

  async #leave(): Promise<void> {
    const all = [this.#writer, ...Array.from({ length: readers }, () => this.db)];
    await Promise.allSettled(all.map((db) => sql`SELECT pg_terminate_backend(pg_backend_pid())`.execute(db)));
    await this.#admission.close();
  }
}
