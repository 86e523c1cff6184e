// The lease on a PostgreSQL store. One row names the active process; its fencing number increases with each takeover.
// Each write transaction increments the version in the row of its fencing number. A takeover deletes that row, so that
// late writes of the previous process are refused. Each process measures deadlines by its monotonic clock: with times
// in the database, the first process to come back after an outage would take over.
import { sql } from 'kysely';
import { nameOf, type PostgresPlace } from '../../core/store-failure.ts';
import { type Bell, type Clock, createBell, type Log } from '../../world/world.ts';
import { type Lease, longestSkewMs, postMs, skewOf } from '../database.ts';
import { HeldStoreError, StoreError } from '../failure.ts';
import type { Db } from '../schema/tables.ts';
import { nowMs } from './connection.ts';
import { forCaller, mayPass } from './failure.ts';

/** Time after the active process sent its last acknowledged heartbeat. A standby waits as long. */
const leaseMs = 15_000;
/** A larger difference between two readings means that the machine slept, or that the clock was set. */
const toleratedJumpMs = 2_000;

interface Moment {
  /** Monotonic clock: never jumps, and stops while the machine sleeps. */
  readonly monotonic: number;
  readonly wall: number;
}

/** `sent`: the time at which the last acknowledged heartbeat was sent, not that of its response. */
function leaseLeftMs(sent: Moment, now: Moment): number {
  const passed = now.monotonic - sent.monotonic;
  const jumped = Math.abs(now.wall - sent.wall - passed) > toleratedJumpMs;
  return jumped ? 0 : leaseMs - passed;
}

const beatEveryMs = 3_000;
const lookEveryMs = 500;
/** A command refuses to run if the last heartbeat is more recent than this, by the server's clock. */
const livingMs = 20_000;

export interface LeaseOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly name: string;
  readonly version: string;
  /** `active` has the lease; `failure` is the reason why the lease can't be read, or null. */
  readonly standingBy: (active: string, failure: Error | null) => void;
  /** Reports that another process has the lease, or that the database lost it: this process can no longer write. */
  readonly lost: (why: string) => void;
}

interface LeaseRow {
  readonly fence: number;
  readonly holder: string | null;
  readonly beat: number;
  readonly now: number;
}

export async function activeProcess(db: Db): Promise<{ readonly name: string; readonly version: string } | null> {
  const { rows } = await sql<{ name: string; version: string }>`SELECT holder AS name, version FROM lease
    WHERE holder IS NOT NULL AND ${nowMs} - beat_at < ${livingMs}`.execute(db);
  return rows[0] ?? null;
}

/** First statement of each transaction. Returns the new version, or null if another process has the lease. */
export async function raiseFence(trx: Db, fence: number): Promise<number | null> {
  const { rows } = await sql<{ version: number }>`
    UPDATE fence SET version = version + 1 WHERE number = ${fence} RETURNING version`.execute(trx);
  return rows[0]?.version ?? null;
}

/** Waits until the server has finished a transaction whose connection was lost. */
export async function fenceVersion(db: Db, fence: number): Promise<number | null> {
  const { rows } = await sql<{ version: number }>`
    SELECT version FROM fence WHERE number = ${fence} FOR UPDATE`.execute(db);
  return rows[0]?.version ?? null;
}

export class PostgresLease implements Lease {
  readonly isShared: boolean;
  readonly #place: PostgresPlace;
  readonly #db: Db;
  /** Null in a command, which neither waits for the lease nor renews it. */
  readonly #options: LeaseOptions | null;
  readonly #bell: Bell | null;
  #fence = 0;
  #isInherited = false;
  /** Time at which the last acknowledged heartbeat was sent. */
  #sent: Moment | null = null;
  #failure: Error | null = null;
  #failures = 0;
  #isEnding = false;
  #loop: Promise<void> | null = null;

  constructor(place: PostgresPlace, db: Db, options: LeaseOptions | null) {
    this.isShared = options !== null;
    this.#place = place;
    this.#db = db;
    this.#options = options;
    this.#bell = options && createBell(options.clock);
  }

  get fence(): number {
    return this.#fence;
  }

  get isInherited(): boolean {
    return this.#isInherited;
  }

  get isHeld(): boolean {
    return this.#options === null || this.#leftMs > 0;
  }

  mayPost(): boolean {
    return this.#options === null || this.#leftMs >= postMs;
  }

  get overdue(): Error | null {
    // A single failure proves nothing: after a sleep of the machine, the connection is lost.
    return !this.isHeld && this.#failures > 1 ? this.#failure : null;
  }

  /** Resolves once this process is active. Throws HeldStoreError in a command if a daemon is active. */
  async take(name: string): Promise<void> {
    const options = this.#options;
    if (options === null) return this.#takeNow(name);
    await this.#standBy(options);
    options.log.info({ fence: this.#fence }, 'this process is the active one');
    this.#loop = this.#prolong(options);
  }

  async release(): Promise<void> {
    this.#isEnding = true;
    this.#bell?.ring();
    await this.#loop;
    const fence = this.#fence;
    if (fence === 0) return;
    const releasing = this.#transact(async (trx) => {
      await sql`UPDATE lease SET holder = NULL WHERE fence = ${fence}`.execute(trx);
      await sql`DELETE FROM fence WHERE number = ${fence}`.execute(trx);
    });
    await releasing.catch(() => {});
  }

  lose(why: string): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.#options?.lost(why);
  }

  async #takeNow(name: string): Promise<void> {
    const living = await this.#transact(activeProcess);
    const seen = living ? null : await this.#look();
    if (!seen || !(await this.#seize(seen, { name, version: '' })))
      throw new HeldStoreError(nameOf(this.#place), living?.name ?? 'another process');
  }

  /**
   * Takes the lease if it was released, or if the heartbeat did not change for the whole deadline. Waits through an
   * outage of the database.
   */
  async #standBy(options: LeaseOptions): Promise<void> {
    const { clock, log, name, standingBy } = options;
    let active = 'another process';
    let seen = null as { readonly beat: string; readonly since: number } | null;
    let failure = null as Error | null;
    for (;;) {
      try {
        const row = await this.#look(options);
        failure = null;
        const beat = `${row.fence} ${row.beat}`;
        if (seen?.beat !== beat) seen = { beat, since: clock.monotonic() };
        const isSilent = clock.monotonic() - seen.since >= leaseMs;
        if (isSilent && row.holder !== null) log.warn({ active: row.holder }, 'the active process is silent');
        active = row.holder ?? active;
        if ((row.holder === null || isSilent) && (await this.#seize(row, options))) return;
      } catch (error) {
        if (error instanceof StoreError && !mayPass(error)) throw error;
        const earlier = failure?.message;
        failure = error instanceof Error ? error : new Error(String(error));
        if (failure.message !== earlier) log.error({ err: error, name }, 'the lease could not be read or taken');
        // During an outage of the database, the active process can't send heartbeats either.
        seen = null;
      }
      standingBy(active, failure);
      await clock.sleep(lookEveryMs);
    }
  }

  /** Throws StoreError if the clocks differ too much: stored times would be compared with a wrong clock. */
  async #look(options: LeaseOptions | null = null): Promise<LeaseRow> {
    const asked = options?.clock.now() ?? 0;
    const { rows } = await this.#transact((trx) =>
      sql<LeaseRow>`SELECT fence, holder, beat, ${nowMs} AS now FROM lease`.execute(trx),
    );
    const [row] = rows;
    if (!row) throw new StoreError(`The store ${nameOf(this.#place)} has lost its lease: restore a backup.`);
    if (options && skewOf(row.now - (asked + options.clock.now()) / 2) === 'excessive')
      throw new StoreError(
        `The clock of this machine and the clock of the PostgreSQL server differ by more than ${longestSkewMs / 1_000} s: synchronize both, for example with chrony or systemd-timesyncd.`,
      );
    return row;
  }

  /** Returns false if another process was faster, or if the holder is alive. */
  async #seize(
    { fence, beat, holder }: LeaseRow,
    { name, version }: Pick<LeaseOptions, 'name' | 'version'>,
  ): Promise<boolean> {
    const sent = this.#now();
    return this.#transact(async (trx) => {
      const { rows } = await sql<{ fence: number }>`
        UPDATE lease SET fence = fence + 1, holder = ${name}, version = ${version}, beat = 0, beat_at = ${nowMs}
        WHERE fence = ${fence} AND beat = ${beat} AND holder IS NOT DISTINCT FROM ${holder} RETURNING fence`.execute(
        trx,
      );
      const [own] = rows;
      if (!own) return false;
      await sql`DELETE FROM fence`.execute(trx);
      await sql`INSERT INTO fence (number, version) VALUES (${own.fence}, 0)`.execute(trx);
      this.#fence = own.fence;
      this.#isInherited = holder !== null;
      this.#sent = sent;
      return true;
    });
  }

  async #prolong({ clock, log }: LeaseOptions): Promise<void> {
    while (!this.#isEnding) {
      await this.#bell?.sleep(beatEveryMs);
      if (this.#isEnding) return;
      const sent = this.#now();
      try {
        const { rows } = await clock.busy(() =>
          this.#transact((trx) =>
            sql<{ now: number }>`UPDATE lease SET beat = beat + 1, beat_at = ${nowMs}
              WHERE fence = ${this.#fence} RETURNING beat_at AS now`.execute(trx),
          ),
        );
        const [row] = rows;
        if (!row) return this.lose('another process has taken the lease of this one');
        this.#sent = sent;
        this.#failures = 0;
        const aheadMs = row.now - (sent.wall + clock.now()) / 2;
        if (skewOf(aheadMs) !== 'small')
          log.warn({ differenceMs: Math.round(aheadMs) }, 'the clocks of this machine and of PostgreSQL differ');
      } catch (error) {
        this.#failures += 1;
        this.#failure = error instanceof Error ? error : new Error(String(error));
        log.error({ err: error }, 'a heartbeat of this process failed');
      }
    }
  }

  async #transact<Result>(work: (trx: Db) => Promise<Result>): Promise<Result> {
    try {
      return await this.#db.transaction().execute(work);
    } catch (error) {
      throw forCaller(this.#place, error);
    }
  }

  get #leftMs(): number {
    return this.#sent === null ? 0 : leaseLeftMs(this.#sent, this.#now());
  }

  #now(): Moment {
    const clock = this.#options?.clock;
    return { monotonic: clock?.monotonic() ?? 0, wall: clock?.now() ?? 0 };
  }
}
