// How a process is present at a database: as a replica among others, or alone, with an advisory lock on a connection of its own.
import { randomUUID } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import pg from 'pg';
import { nameOf, type PostgresPlace } from '../../model/store-place.ts';
import type { Membership, Scope } from '../../replicas/membership.ts';
import type { SharedMembership } from '../../replicas/shared.ts';
import { SoleMembership } from '../../replicas/sole.ts';
import { AtRiskError, HeldStoreError, StoreError } from '../failure.ts';
import { metaOf, setMeta } from '../schema/migrations.ts';
import type { Tables } from '../schema/tables.ts';
import { clientConfig, tolerant } from './connecting.ts';

type Db = Kysely<Tables>;

/** Chosen once, for ever: "WARDEN" on a telephone, and what is locked. */
const lockKey = '(927336, 1)';
/** Whose newest beat is younger lives, or did a moment ago. By the server's clock: here it only refuses. */
const livingMs = 20_000;

export interface Presence {
  /** Of its fence: new in each process, and again when others took it for dead. */
  readonly id: string;
  readonly membership: Membership;
  /** Before the schema is touched. Throws StoreError when somebody has the database alone. */
  admit(db: Db): Promise<void>;
  /** Throws StoreError when somebody else has what it would take. */
  enter(db: Db): Promise<void>;
  /** Before a transaction that writes what belongs to scopes: those that the fence is to prove. Throws AtRiskError. */
  check(scopes: readonly Scope[]): Promise<readonly Scope[]>;
  /** The fence let a transaction not pass. */
  refused(): AtRiskError;
  close(): Promise<void>;
}

/** A process among others: refused while one has the database alone. */
export class Together implements Presence {
  readonly membership: SharedMembership;
  readonly #place: PostgresPlace;

  constructor(place: PostgresPlace, membership: SharedMembership) {
    this.#place = place;
    this.membership = membership;
  }

  get id(): string {
    return this.membership.self;
  }

  async admit(): Promise<void> {}

  async enter(db: Db): Promise<void> {
    await this.membership.enter();
    const { rows } =
      await sql`SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted AND objid = 1 AND classid = 927336
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`.execute(db);
    if (rows.length === 0) return;
    await this.membership.stop();
    throw new HeldStoreError(nameOf(this.#place), await holderOf(db));
  }

  async check(scopes: readonly Scope[]): Promise<readonly Scope[]> {
    if (scopes.length > 0 && !this.membership.isHeld)
      throw new AtRiskError(
        `${nameOf(this.#place)} has not acknowledged a heartbeat of this replica for 15 s`,
        'Warmwarden continues by itself.',
      );
    return scopes;
  }

  refused(): AtRiskError {
    return new AtRiskError(
      'another replica took over what this one was doing',
      'Warmwarden continues by itself: this replica joins the others again.',
    );
  }

  close(): Promise<void> {
    return this.membership.close();
  }
}

/** A process that has the database for itself, for a command. */
export class Alone implements Presence {
  readonly membership = new SoleMembership();
  readonly id = randomUUID();
  readonly #place: PostgresPlace;
  readonly #name: string;
  #client: pg.Client | null = null;

  constructor(place: PostgresPlace, name: string) {
    this.#place = place;
    this.#name = name;
  }

  /** Throws HeldStoreError while another is alone there, and StoreError behind a pooler, which would hand the lock on. */
  async admit(db: Db): Promise<void> {
    if (!(await this.#locked())) throw new HeldStoreError(nameOf(this.#place), await holderOf(db));
  }

  async enter(db: Db): Promise<void> {
    const living = sql<{ name: string }>`SELECT name FROM replicas
      WHERE (extract(epoch from clock_timestamp()) * 1000)::bigint - beat_at < ${livingMs} LIMIT 1`;
    const [other] = (await living.execute(db)).rows;
    if (other) throw new HeldStoreError(nameOf(this.#place), other.name);
    // Those that ended without a word, and may wake.
    await sql`DELETE FROM replicas`.execute(db);
    await sql`DELETE FROM fences`.execute(db);
    await sql`INSERT INTO fences (id, version) VALUES (${this.id}, 0)`.execute(db);
    await setMeta(db, 'holder', this.#name);
  }

  /** A lock whose connection was lost is taken again. Throws when somebody was faster. */
  async check(): Promise<readonly Scope[]> {
    if (this.#client !== null || (await this.#locked())) return [];
    throw this.refused();
  }

  refused(): AtRiskError {
    return new AtRiskError(`another Warmwarden uses ${nameOf(this.#place)}`, 'Stop one of the two.');
  }

  async close(): Promise<void> {
    const client = this.#client;
    this.#client = null;
    await client?.end();
  }

  async #locked(): Promise<boolean> {
    const client = tolerant(new pg.Client(clientConfig(this.#place)));
    try {
      await client.connect();
      const { rows } = await client.query(`SELECT pg_backend_pid() AS pid, pg_try_advisory_lock${lockKey} AS locked`);
      const [{ pid, locked }] = rows as [{ pid: number; locked: boolean }];
      if ('processID' in client && client.processID !== pid) throw behindPooler(this.#place);
      if (!locked) {
        await client.end();
        return false;
      }
      client.once('end', () => {
        if (this.#client === client) this.#client = null;
      });
      this.#client = client;
      return true;
    } catch (error) {
      await client.end().catch(() => {});
      throw error;
    }
  }
}

async function holderOf(db: Db): Promise<string> {
  const holder = await metaOf(db, 'holder').catch(() => null);
  return holder ?? 'another process';
}

function behindPooler(place: PostgresPlace): StoreError {
  return new StoreError(
    `The store ${nameOf(place)} can't be used: a connection pooler answers there. Set store.url to the address of PostgreSQL itself.`,
  );
}
