// Admits one process to a database: an advisory lock on a connection of its own keeps a second one out, and a fence in every
// transaction keeps out one that lost the lock without knowing it.
import { randomUUID } from 'node:crypto';
import type { Kysely } from 'kysely';
import pg from 'pg';
import { nameOf, type PostgresPlace } from '../../model/store-place.ts';
import type { Lease } from '../../replicas/commit-outcome.ts';
import { AtRiskError, HeldStoreError, StoreError } from '../failure.ts';
import { metaOf } from '../schema/migrations.ts';
import type { Tables } from '../schema/tables.ts';
import { clientConfig, tolerant } from './connecting.ts';

type Db = Kysely<Tables>;

/** Chosen once, for ever: "WARDEN" on a telephone, and what is locked. */
const lockKey = '(927336, 1)';
/** What this process holds: all accounts, as long as one process guards them. */
const scope = 'store';

export class Admission {
  readonly #place: PostgresPlace;
  readonly #owner = randomUUID();
  #client: pg.Client | null = null;
  #fence = 0;

  constructor(place: PostgresPlace) {
    this.#place = place;
  }

  /** Takes the lock. Throws HeldStoreError when another process has it, and StoreError behind a pooler, which would hand the lock on. */
  async lock(db: Db): Promise<void> {
    if (await this.#locked()) return;
    const holder = await metaOf(db, 'holder').catch(() => null);
    throw new HeldStoreError(nameOf(this.#place), holder ?? 'another process');
  }

  /** Before each transaction: a lock whose connection was lost is taken again. Throws when somebody was faster. */
  async hold(): Promise<void> {
    if (this.#client !== null || (await this.#locked())) return;
    throw usedByAnother(this.#place);
  }

  /** From now on transactions of earlier holders are refused. */
  async enter(db: Db): Promise<void> {
    const lease = await db
      .insertInto('leases')
      .values({ scope, owner: this.#owner, fence: 1, version: 0 })
      .onConflict((conflict) =>
        conflict.column('scope').doUpdateSet((of) => ({ owner: this.#owner, fence: of('leases.fence', '+', 1) })),
      )
      .returning('fence')
      .executeTakeFirstOrThrow();
    this.#fence = lease.fence;
  }

  /** The first statement of each transaction: the lease as that transaction leaves it. Throws when it is no longer ours. */
  async raise(trx: Db): Promise<Lease> {
    const lease = await trx
      .updateTable('leases')
      .set((of) => ({ version: of('version', '+', 1) }))
      .where('scope', '=', scope)
      .where('owner', '=', this.#owner)
      .where('fence', '=', this.#fence)
      .returning(['owner', 'fence', 'version'])
      .executeTakeFirst();
    if (!lease) throw usedByAnother(this.#place);
    return lease;
  }

  /** The lease as it is stored, once the server has done with a transaction whose connection was lost; null: there is none. */
  async found(db: Db): Promise<Lease | null> {
    const query = db.selectFrom('leases').select(['owner', 'fence', 'version']).where('scope', '=', scope);
    return (await query.forUpdate().executeTakeFirst()) ?? null;
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

function usedByAnother(place: PostgresPlace): AtRiskError {
  return new AtRiskError(`another Warmwarden uses ${nameOf(place)}`, 'Stop one of the two.');
}

function behindPooler(place: PostgresPlace): StoreError {
  return new StoreError(
    `The store ${nameOf(place)} can't be used: a connection pooler answers there. Set store.url to the address of PostgreSQL itself.`,
  );
}
