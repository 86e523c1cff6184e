// Which server the connections of a process lead to. After a failover the address leads to another one, and a connection that stayed
// with the one before would go on reading what that one knew.
import type { PostgresPool } from 'kysely';
import pg from 'pg';
import type { PostgresPlace } from '../../core/store-failure.ts';
import { poolOf } from './connecting.ts';
import { isOldPrimary, keepNewest, newestAt, OldPrimaryError, type Server, serverOf } from './timeline.ts';

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
