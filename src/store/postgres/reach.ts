// Tracks the server behind each connection of a process. After a failover the address leads to another server, and a
// connection to the previous server would continue to read outdated data.

import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { PostgresPool } from 'kysely';
import pg from 'pg';
import type { PostgresPlace } from '../../core/store-failure.ts';
import { AtRiskError } from '../failure.ts';
import { poolOf } from './connection.ts';

/** Error of pg for a statement without a response within query_timeout. */
const overdue = 'Query read timeout';

/**
 * Connection pools that follow a failover. If a writing connection is reopened, every other connection is reopened on
 * its next use.
 */
export class Reach {
  readonly #place: PostgresPlace;
  /** True if the newest server is stored for the next process. */
  readonly #keeps: boolean;
  #generation = 0;
  #newest: Server | null;
  /** Server behind each connection, once determined. */
  readonly #servers = new WeakMap<object, Server | 'unknown'>();

  constructor(place: PostgresPlace, keeps: boolean) {
    this.#place = place;
    this.#keeps = keeps;
    this.#newest = newestAt(place);
  }

  /** Number that changes when connections must be reopened. */
  get generation(): number {
    return this.#generation;
  }

  /**
   * Makes all connections reopen. Called before a writing connection is opened, and when the server turns out to be a
   * standby.
   */
  renew(): void {
    this.#generation += 1;
  }

  /**
   * Checks the server of a connection. Called before each use, outside a transaction. Throws OldPrimaryError, after
   * which the connection must be closed.
   */
  async check(client: pg.ClientBase): Promise<void> {
    const known = this.#servers.get(client);
    const server = known ?? (await serverOf((text) => client.query(text)));
    if (server === 'standby') return;
    // A pooler may send the next transaction to another server.
    if (this.#place.isPooled !== true) this.#servers.set(client, server);
    if (server === 'unknown') return;
    if (isOldPrimary(server, this.#newest)) throw new OldPrimaryError(this.#place, server, this.#newest);
    const isNews = server.system !== this.#newest?.system || server.timeline !== this.#newest.timeline;
    if (known || !isNews) return;
    // Other connections may still lead to the previous server.
    if (this.#newest) this.renew();
    this.#newest = server;
    if (this.#keeps) keepNewest(this.#place, server);
  }

  /** Creates a pool of connections that write, or that only read. */
  pool(config: pg.ClientConfig, max: number, kind: 'writes' | 'reads'): PostgresPool {
    const generations = new WeakMap<object, number>();
    const opening = () => {
      if (kind === 'writes') this.renew();
      return this.#generation;
    };
    const renew = () => this.renew();
    class Client extends pg.Client {
      constructor(given?: pg.ClientConfig) {
        super(given);
        generations.set(this, opening());
      }

      /**
       * Closes a connection with an overdue response: the next statement would wait behind it. The same cause may have
       * cut the other connections.
       */
      // biome-ignore lint/suspicious/noExplicitAny: all of the forms in which pg takes a statement.
      override query(...given: any[]): any {
        const answer = super.query(...(given as [string]));
        answer.catch((error: Error) => {
          if (error.message !== overdue) return;
          renew();
          void this.end();
        });
        return answer;
      }
    }
    const pool = poolOf({ ...config, Client }, max);
    const connect = async () => {
      for (;;) {
        const client = await pool.connect();
        const isCurrent = () => generations.get(client) === this.#generation;
        try {
          if (isCurrent()) await this.check(client);
        } catch (error) {
          client.release(true);
          throw error;
        }
        if (isCurrent()) return client;
        client.release(true);
      }
    };
    return { connect, end: () => pool.end(), options: pool.options };
  }
}

// Detects a server that was the primary before a failover. It may run again and accept writes, but lacks the data of
// the new primary: a process that follows it would repeat the actions of other processes.

/**
 * `system`: the number that initdb generated. `timeline`: increases when a standby is promoted, or when a backup is
 * restored to a point in time.
 */
export interface Server {
  readonly system: string;
  readonly timeline: number;
}

/**
 * Reads the timeline from the name of the WAL file, which changes at once; the control file has the old one until the
 * first checkpoint.
 */
const question = `SELECT system_identifier::text AS system, CASE WHEN NOT pg_is_in_recovery()
  THEN substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END AS timeline FROM pg_control_system()`;

interface TimelineRow {
  readonly system: string;
  /** Eight hexadecimal digits, or null on a standby. */
  readonly timeline: string | null;
}

/**
 * Identifies a server. Returns `standby` for a server that may be promoted while connected, and `unknown` if a service
 * does not allow the query. Runs outside a transaction.
 */
export async function serverOf(
  ask: (text: string) => Promise<{ readonly rows: readonly unknown[] }>,
): Promise<Server | 'standby' | 'unknown'> {
  try {
    const { system, timeline } = (await ask(question)).rows[0] as TimelineRow;
    return timeline === null ? 'standby' : { system, timeline: Number.parseInt(timeline, 16) };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (/^(0A|42)/.test(code)) return 'unknown';
    throw error;
  }
}

/** Server with the highest timeline that a process with this store has used, or null if none is stored or readable. */
export function newestAt(place: PostgresPlace): Server | null {
  try {
    const { system, timeline } = JSON.parse(readFileSync(fileOf(place), 'utf8'));
    return typeof system === 'string' && typeof timeline === 'number' ? { system, timeline } : null;
  } catch {
    return null;
  }
}

/**
 * Stores the newest server without a sync: if a crash of the machine loses it, it is learned again from the new
 * primary.
 */
function keepNewest(place: PostgresPlace, server: Server): void {
  const file = fileOf(place);
  try {
    writeFileSync(`${file}.new`, JSON.stringify(server), { mode: 0o600 });
    renameSync(`${file}.new`, file);
  } catch {
    // This process keeps the server in memory, and a start refuses a folder without write access.
  }
}

const fileOf = ({ path }: PostgresPlace) => `${path}.timeline`;

/**
 * True for a server of the same system with a lower timeline. Another system is a different server, for example after
 * an upgrade.
 */
export function isOldPrimary({ system, timeline }: Server, newest: Server | null): boolean {
  return newest !== null && system === newest.system && timeline < newest.timeline;
}

export class OldPrimaryError extends AtRiskError {
  /** Additional advice for a person who starts Warmwarden. */
  readonly atStart: string;

  constructor(place: PostgresPlace, { timeline }: Server, newest: Server | null) {
    super(
      `PostgreSQL at ${place.host}:${place.port} was the primary before a failover: its timeline is ${timeline}, and Warmwarden has already used timeline ${newest?.timeline} of the same database cluster`,
      'Stop this server, and correct the address in store.url or its DNS record so that it leads to the new primary; Warmwarden then continues by itself.',
    );
    this.atStart = `If you restored this server from a snapshot and no other primary exists, stop all replicas and delete ${fileOf(place)} on the machine of each.`;
  }
}
