// The store in a PostgreSQL database, which replicas share.
import { randomUUID } from 'node:crypto';
import { Kysely, type PostgresPool, sql } from 'kysely';
import type { PostgresPlace, StoreFailure } from '../core/store-failure.ts';
import type { EpochMs } from '../core/time.ts';
import type { Database, Others, Rim, Sleep, Write } from './database.ts';
import { AtRiskError, FailedStatements, NotOursError } from './failure.ts';
import { BesideLock, inFolderOf } from './file/beside-lock.ts';
import { nameOfHolder } from './file/lock.ts';
import { OutageNote } from './file/outage-note.ts';
import { clientConfig, poolOf, reached } from './postgres/connecting.ts';
import { StoreDialect } from './postgres/dialect.ts';
import { doubtsOf } from './postgres/doubts.ts';
import { failureOf, forCaller, isAway, isReadOnly, openingError, postgresError } from './postgres/failure.ts';
import { raise, versionOf } from './postgres/fence.ts';
import { Line } from './postgres/line.ts';
import { channel, Listening } from './postgres/listening.ts';
import { Alone, type Presence, refuseEarlier, Together } from './postgres/presence.ts';
import { Reach } from './postgres/reach.ts';
import { PostgresRoster } from './postgres/roster.ts';
import { migrationStepMs, setUp } from './postgres/setup.ts';
import { markNow, writtenSince } from './postgres/written.ts';
import { commitOutcome } from './replicas/commit-outcome.ts';
import type { Membership, Scope } from './replicas/membership.ts';
import { SharedMembership } from './replicas/shared.ts';
import type { Tables } from './schema/tables.ts';

type Db = Kysely<Tables>;

/** Reads beside one another. */
const readers = 4;
/** Between two attempts to learn what became of a COMMIT. */
const askAgainMs = 1_000;

const restart = 'Start PostgreSQL or repair the network; Warmwarden then continues by itself.';

function fail(error: Error): never {
  throw error;
}

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
  readonly #presence: Presence;
  readonly #reach: Reach;
  /** One connection: transactions follow one another in the order in which they were asked for, as on SQLite. */
  readonly #writer: Kysely<Tables>;
  /** Of the heartbeats. */
  readonly #line: Line;
  readonly db: Kysely<Tables>;
  warnings: readonly string[] = [];
  readonly news: readonly string[] = [];
  readonly locksRows = true;
  readonly statements = new FailedStatements();
  readonly others: Others = {
    markNow: async () => `${this.#reach.generation} ${await markNow(this.db)}`,
    writtenSince: async (accounts, since) => {
      const [generation, mark = ''] = since.split(' ');
      // Another server may lack what this replica has seen.
      return generation === `${this.#reach.generation}` ? writtenSince(this.db, accounts, mark) : null;
    },
  };
  readonly #listening: Listening;
  /** While nobody knows what became of a COMMIT: another transaction would raise the version that tells it. */
  #isInDoubt = false;
  /** The newest version that was committed. A server that shows an older one has lost what came after it. */
  #committed = { id: '', version: 0 };
  readonly #roster: PostgresRoster;
  readonly #log: NonNullable<Rim['replica']>['log'] | null;
  #closed = false;
  /** A process that has the database alone keeps nothing beside it. */
  readonly #keepsBeside: boolean;
  #beside: BesideLock | null = null;
  #note: OutageNote | null = null;

  constructor(place: PostgresPlace, now: EpochMs, { sleep, replica }: Rim) {
    const config = clientConfig(place);
    this.#place = place;
    this.#sleep = sleep ?? null;
    this.#keepsBeside = replica !== undefined;
    this.#reach = new Reach(place, this.#keepsBeside);
    this.#listening = new Listening(place, this.#reach);
    this.#line = new Line(place, this.#reach);
    this.#roster = new PostgresRoster(this.#line, (id, work) => this.#transact(work, id, []));
    this.#log = replica?.log ?? null;
    this.#presence = replica
      ? new Together(place, new SharedMembership(this.#roster, replica, randomUUID))
      : new Alone(place, nameOfHolder(now));
    const kysely = (pool: PostgresPool) =>
      new Kysely<Tables>({ dialect: new StoreDialect({ pool }), log: this.statements.listen });
    this.#writer = kysely(this.#reach.pool(config, 1, 'writes'));
    this.db = kysely(this.#reach.pool(config, readers, 'reads'));
  }

  async open(): Promise<void> {
    if (this.#keepsBeside) this.#beside = new BesideLock(this.#place.path);
    await refuseEarlier(this.db, this.#place);
    await this.#setUp();
    await this.#presence.enter(this.#writer);
    // All of its connections: one too many is refused now, and not in the middle of the work.
    await Promise.all(Array.from({ length: readers }, () => sql`SELECT pg_sleep(0)`.execute(this.db)));
    this.warnings = await doubtsOf(this.db, this.#place);
    inFolderOf(this.#place.path);
  }

  async #setUp(): Promise<void> {
    const config = { ...clientConfig(this.#place), query_timeout: migrationStepMs };
    const db = new Kysely<Tables>({ dialect: new StoreDialect({ pool: poolOf(config, 1) }) });
    await setUp(db, this.#place).finally(() => db.destroy());
  }

  get note(): OutageNote {
    this.#note ??= new OutageNote(this.#place.path);
    return this.#note;
  }

  get membership(): Membership {
    return this.#presence.membership;
  }

  readonly fence: Write = async (work, scopes = []) => {
    // What was asked for before others took this replica for dead is not written after it.
    const { id } = this.#presence;
    return this.#transact(work, id, this.#presence.check(scopes));
  };

  async #transact<Result>(work: (trx: Db) => Promise<Result>, id: string, scopes: readonly Scope[]): Promise<Result> {
    const trx = await this.#writer.startTransaction().execute();
    const undo = () =>
      trx
        .rollback()
        .execute()
        .catch(() => {});
    let version: number;
    let result: Result;
    try {
      if (this.#isInDoubt) throw new AtRiskError('the outcome of a transaction is not known yet', restart);
      version = (await raise(trx, id, scopes)) ?? fail(this.#presence.refused());
      if (id === this.#committed.id && version <= this.#committed.version) throw this.#rewound(id);
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
      if (!this.#isInDoubt || !(await this.#wasCommitted(id, version))) throw error;
    } finally {
      this.#isInDoubt = false;
    }
    this.#committed = { id, version };
    return result;
  }

  /**
   * A failover lost the newest commits: what this process has in mind is not what is stored. It leaves, and joins again as one
   * that was taken for dead does: then it reads everything again.
   */
  #rewound(id: string): AtRiskError {
    this.#log?.warn('PostgreSQL lost what this replica had stored last, as after a failover: it reads the store again');
    void this.#roster.leave(id).catch(() => {});
    return new NotOursError('PostgreSQL lost the newest writes', 'Warmwarden reads the store again by itself.');
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

  /** PostgreSQL cleans up by itself. */
  async tidy(): Promise<void> {}

  /** It checks its pages by itself. */
  async lookForDamage(): Promise<null> {
    return null;
  }

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
    await this.#presence.close();
    await Promise.all([this.#writer.destroy(), this.db.destroy(), this.#line.close()]);
    this.#beside?.close();
  }

  /**
   * Its reply was lost. Nothing goes on before it is known: what was committed would be done twice. A server that refuses the
   * question says as little as one that is away.
   */
  async #wasCommitted(id: string, version: number): Promise<boolean> {
    for (;;) {
      try {
        return commitOutcome(version, await versionOf(this.db, id)) === 'committed';
      } catch (error) {
        if (this.#closed || this.#sleep === null) throw error;
      }
      await this.#sleep(askAgainMs);
    }
  }
}
