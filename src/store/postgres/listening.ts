// Hears what other processes write, by LISTEN on a connection of its own. A net of its own it is not: behind a pooler, and while
// the connection is lost, nothing is heard.
import pg from 'pg';
import type { PostgresPlace } from '../../core/store-failure.ts';
import { clientConfig, tolerant } from './connecting.ts';
import type { Reach } from './reach.ts';

/** Of NOTIFY. */
export const channel = 'warmwarden';

export class Listening {
  readonly #place: PostgresPlace;
  readonly #reach: Reach;
  #client: pg.Client | null = null;
  /** Of the reach, when it connected. */
  #generation = 0;
  #connecting: Promise<void> | null = null;
  #closed = false;

  constructor(place: PostgresPlace, reach: Reach) {
    this.#place = place;
    this.#reach = reach;
  }

  /** Calls `listener` from now on. To be called from time to time: a connection that was lost is made again by that. Never throws. */
  listen(listener: () => void): void {
    if (this.#client && this.#generation !== this.#reach.generation) void this.#drop();
    if (this.#client || this.#connecting || this.#closed) return;
    this.#generation = this.#reach.generation;
    this.#connecting = this.#connect(listener)
      .catch(() => {})
      .finally(() => {
        this.#connecting = null;
      });
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#connecting;
    await this.#drop();
  }

  async #drop(): Promise<void> {
    const client = this.#client;
    this.#client = null;
    await client?.end().catch(() => {});
  }

  async #connect(listener: () => void): Promise<void> {
    const client = tolerant(new pg.Client(clientConfig(this.#place)));
    client.on('notification', listener);
    client.once('end', () => {
      if (this.#client === client) this.#client = null;
    });
    try {
      await client.connect();
      await client.query(`LISTEN ${channel}`);
      this.#client = client;
    } catch (error) {
      await client.end().catch(() => {});
      throw error;
    }
  }
}
