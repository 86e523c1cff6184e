// Which server the connections of a process lead to. After a failover the address leads to another one, and a connection that stayed
// with the one before would go on reading what that one knew.
import type { PostgresPool } from 'kysely';
import pg from 'pg';
import { poolOf } from './connecting.ts';

/** Once a connection that writes is opened again, the others are too: each when it is used next. */
export class Reach {
  #generation = 0;

  /** Changes when connections are to be opened again. */
  get generation(): number {
    return this.#generation;
  }

  /** To be called before a connection that writes is opened, and when the server turned out to be a standby. */
  renew(): void {
    this.#generation += 1;
  }

  /** Those that write, or that only read. */
  pool(config: pg.ClientConfig, max: number, kind: 'writes' | 'reads'): PostgresPool {
    const generations = new WeakMap<object, number>();
    const opening = () => {
      if (kind === 'writes') this.renew();
      return this.#generation;
    };
    class Client extends pg.Client {
      constructor(given?: pg.ClientConfig) {
        super(given);
        generations.set(this, opening());
      }
    }
    const pool = poolOf({ ...config, Client }, max);
    const connect = async () => {
      for (;;) {
        const client = await pool.connect();
        if (generations.get(client) === this.#generation) return client;
        client.release(true);
      }
    };
    return { connect, end: () => pool.end(), options: pool.options };
  }
}
