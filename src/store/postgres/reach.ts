// Which server the connections of a process lead to. After a failover the address leads to another one, and a connection that stayed
// with the one before would go on reading what that one knew.

import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { PostgresPool } from 'kysely';
import pg from 'pg';
import type { PostgresPlace } from '../../core/store-failure.ts';
import { AtRiskError } from '../failure.ts';
import { poolOf } from './connection.ts';

/** What pg says of a statement whose answer did not come within query_timeout. */
const overdue = 'Query read timeout';

/** Once a connection that writes is opened again, the others are too: each when it is used next. */
export class Reach {
  readonly #place: PostgresPlace;
  /** Whether the next process is to know the newest server, too. */
  readonly #keeps: boolean;
  #generation = 0;
  #newest: Server | null;
  /** Where each connection leads to, once that is known. */
  readonly #servers = new WeakMap<object, Server | 'unknown'>();

  constructor(place: PostgresPlace, keeps: boolean) {
    this.#place = place;
    this.#keeps = keeps;
    this.#newest = newestAt(place);
  }

  /** Changes when connections are to be opened again. */
  get generation(): number {
    return this.#generation;
  }

  /** To be called before a connection that writes is opened, and when the server turned out to be a standby. */
  renew(): void {
    this.#generation += 1;
  }

  /** To be called before each use of a connection, outside a transaction. Throws OldPrimaryError, and the connection is to be closed then. */
  async check(client: pg.ClientBase): Promise<void> {
    const known = this.#servers.get(client);
    const server = known ?? (await serverOf((text) => client.query(text)));
    if (server === 'standby') return;
    // Behind a pooler, the next transaction may reach another server.
    if (this.#place.isPooled !== true) this.#servers.set(client, server);
    if (server === 'unknown') return;
    if (isOldPrimary(server, this.#newest)) throw new OldPrimaryError(this.#place, server, this.#newest);
    const isNews = server.system !== this.#newest?.system || server.timeline !== this.#newest.timeline;
    if (known || !isNews) return;
    // Other connections may still lead to the server before.
    if (this.#newest) this.renew();
    this.#newest = server;
    if (this.#keeps) keepNewest(this.#place, server);
  }

  /** Those that write, or that only read. */
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

      /** A connection that owes an answer is given up: what is asked next would wait behind it. What cut it may have cut the others. */
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

// Whether a server is the one that was the primary before a failover. Such a server may run again and take writes, but it lacks what
// the new primary has: a process that follows it would do again what others have done.

/** `system`: the number that initdb gave. `timeline`: raised when a standby is promoted, or a backup is restored to a point in time. */
export interface Server {
  readonly system: string;
  readonly timeline: number;
}

/** The name of the WAL file is exact at once; the timeline in the control file is the old one until the first checkpoint. */
const question = `SELECT system_identifier::text AS system, CASE WHEN NOT pg_is_in_recovery()
  THEN substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END AS timeline FROM pg_control_system()`;

interface TimelineRow {
  readonly system: string;
  /** Eight hexadecimal digits; null: it is a standby. */
  readonly timeline: string | null;
}

/** `standby`: it may be promoted while it is connected. `unknown`: some services do not let a role ask. Runs outside a transaction. */
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

/** The server with the highest timeline that a process with this store has used; null: none, or one that can't be read. */
export function newestAt(place: PostgresPlace): Server | null {
  try {
    const { system, timeline } = JSON.parse(readFileSync(fileOf(place), 'utf8'));
    return typeof system === 'string' && typeof timeline === 'number' ? { system, timeline } : null;
  } catch {
    return null;
  }
}

/** Not synced: what a crash of the machine takes along is learned again from the new primary. */
function keepNewest(place: PostgresPlace, server: Server): void {
  const file = fileOf(place);
  try {
    writeFileSync(`${file}.new`, JSON.stringify(server), { mode: 0o600 });
    renameSync(`${file}.new`, file);
  } catch {
    // This process remembers it all the same, and a start refuses a folder that it can't write to.
  }
}

const fileOf = ({ path }: PostgresPlace) => `${path}.timeline`;

/** Another system is another server, for example after an upgrade. */
export function isOldPrimary({ system, timeline }: Server, newest: Server | null): boolean {
  return newest !== null && system === newest.system && timeline < newest.timeline;
}

export class OldPrimaryError extends AtRiskError {
  /** What else a person may want who starts Warmwarden. */
  readonly atStart: string;

  constructor(place: PostgresPlace, { timeline }: Server, newest: Server | null) {
    super(
      `PostgreSQL at ${place.host}:${place.port} was the primary before a failover: its timeline is ${timeline}, and Warmwarden has already used timeline ${newest?.timeline} of the same database cluster`,
      'Stop this server, and correct the address in store.url or its DNS record so that it leads to the new primary; Warmwarden then continues by itself.',
    );
    this.atStart = `If you restored this server from a snapshot and no other primary exists, stop all replicas and delete ${fileOf(place)} on the machine of each.`;
  }
}
