// How a process is present at a database: as a replica among others, or alone, for a command.
import { randomUUID } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import { nameOf, type PostgresPlace } from '../../core/store-failure.ts';
import { AtRiskError, HeldStoreError, NotOursError } from '../failure.ts';
import type { Membership, ReplicaReport, Scope } from '../replicas/membership.ts';
import type { SharedMembership } from '../replicas/shared.ts';
import { SoleMembership } from '../replicas/sole.ts';
import { metaOf } from '../schema/migrations.ts';
import type { Tables } from '../schema/tables.ts';
import { nowMs } from './now.ts';

type Db = Kysely<Tables>;

/** Of a process that is alone: younger, and it is there. By the server's clock: here it only refuses. */
const livingMs = 20_000;
const ageMs = sql<number>`${nowMs} - beat_at`;

/** A replica, as it last described itself. */
interface LivingReplica extends Omit<ReplicaReport, 'storeFailure'> {
  readonly id: string;
  readonly name: string;
  /** Of Warmwarden. */
  readonly version: string;
  readonly wants: readonly Scope[];
}

/** The replicas that send heartbeats, by name. */
export async function livingReplicas(db: Db): Promise<readonly LivingReplica[]> {
  const { rows } = await sql<Omit<LivingReplica, 'wants'> & { readonly wants: string }>`
    SELECT id, name, version, wants, config_digest AS "configDigest", reload_failure AS "reloadFailure"
    FROM replicas WHERE NOT alone AND ${ageMs} < ${livingMs} ORDER BY name, id`.execute(db);
  return rows.map(({ wants, ...one }) => ({ ...one, wants: JSON.parse(wants) }));
}

/** Versions that allowed one process held a lock. Throws HeldStoreError while one of them runs. */
export async function refuseEarlier(db: Db, place: PostgresPlace): Promise<void> {
  const { rows } =
    await sql`SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted AND classid = 927336 AND objid = 1
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`.execute(db);
  if (rows.length === 0) return;
  const holder = await metaOf(db, 'holder').catch(() => null);
  throw new HeldStoreError(nameOf(place), holder ?? 'another process');
}

export interface Presence {
  /** Of its fence: new in each process, and again when others took it for dead. */
  readonly id: string;
  readonly membership: Membership;
  /** Throws StoreError when somebody else has what it would take. */
  enter(db: Db): Promise<void>;
  /** Before a transaction that writes what belongs to scopes: those that the fence is to prove. Throws AtRiskError. */
  check(scopes: readonly Scope[]): readonly Scope[];
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

  async enter(db: Db): Promise<void> {
    await this.membership.enter();
    const { rows } = await sql<{ name: string }>`
      SELECT name FROM replicas WHERE alone AND ${ageMs} < ${livingMs} LIMIT 1`.execute(db);
    if (!rows[0]) return;
    await this.membership.stop();
    throw new HeldStoreError(nameOf(this.#place), rows[0].name);
  }

  check(scopes: readonly Scope[]): readonly Scope[] {
    if (scopes.length === 0 || this.membership.isHeld) return scopes;
    const silent = `${nameOf(this.#place)} has not acknowledged a heartbeat of this replica for 15 s`;
    throw this.membership.failure ?? new NotOursError(silent, 'Warmwarden continues by itself.');
  }

  refused(): AtRiskError {
    return new NotOursError(
      'another replica took over what this one was doing',
      'Warmwarden continues by itself: this replica joins the others again.',
    );
  }

  close(): Promise<void> {
    return this.membership.close();
  }
}

/** A process that has the database for itself, for a command. It does not beat: one that takes long is kept by its transaction. */
export class Alone implements Presence {
  readonly membership = new SoleMembership();
  readonly id = randomUUID();
  readonly #place: PostgresPlace;
  readonly #name: string;
  /** To leave by. */
  #db: Db | null = null;

  constructor(place: PostgresPlace, name: string) {
    this.#place = place;
    this.#name = name;
  }

  /** Throws HeldStoreError while others use it. */
  async enter(db: Db): Promise<void> {
    await db.transaction().execute(async (trx) => {
      // Whoever joins or beats waits for this.
      await sql`LOCK TABLE replicas IN SHARE ROW EXCLUSIVE MODE`.execute(trx);
      const living = sql<{ name: string }>`SELECT name FROM replicas WHERE ${ageMs} < ${livingMs} LIMIT 1`;
      const [other] = (await living.execute(trx)).rows;
      if (other) throw new HeldStoreError(nameOf(this.#place), other.name);
      // Those that ended without a word, and may wake.
      await sql`DELETE FROM replicas`.execute(trx);
      await sql`DELETE FROM fences`.execute(trx);
      await sql`INSERT INTO fences (id, version) VALUES (${this.id}, 0)`.execute(trx);
      await sql`INSERT INTO replicas (id, name, version, started_at, beat, beat_at, config_digest, wants, alone)
        VALUES (${this.id}, ${this.#name}, '', 0, 0, ${nowMs}, '', '[]', true)`.execute(trx);
    });
    this.#db = db;
  }

  check(): readonly Scope[] {
    return [];
  }

  refused(): AtRiskError {
    return new AtRiskError(`another Warmwarden uses ${nameOf(this.#place)}`, 'Stop one of the two.');
  }

  async close(): Promise<void> {
    const db = this.#db;
    this.#db = null;
    if (!db) return;
    const leave = async () => {
      await sql`DELETE FROM replicas WHERE id = ${this.id}`.execute(db);
      await sql`DELETE FROM fences WHERE id = ${this.id}`.execute(db);
    };
    await leave().catch(() => {});
  }
}
