// A connection of its own for what must not wait behind the store's other work: transactions that are short, or fail.
import pg from 'pg';
import type { PostgresPlace } from '../../core/store-failure.ts';
import { clientConfig, tolerant } from './connecting.ts';
import { beginText } from './dialect.ts';
import { forCaller } from './failure.ts';
import type { Reach } from './reach.ts';

/** After that, the connection is given up: a late heartbeat is worth less than the next one. */
const answerMs = 4_000;
const begin = beginText({ statement: '3s', lock: '500ms' });

/** One statement; its rows. */
export type Ask = <Row>(text: string, values?: readonly unknown[]) => Promise<readonly Row[]>;

export class Line {
  readonly #place: PostgresPlace;
  readonly #reach: Reach;
  #client: pg.Client | null = null;
  #last: Promise<unknown> = Promise.resolve();

  constructor(place: PostgresPlace, reach: Reach) {
    this.#place = place;
    this.#reach = reach;
  }

  /** One transaction, after those before. Whatever fails takes the connection along: nobody knows what became of it. */
  run<Result>(work: (ask: Ask) => Promise<Result>): Promise<Result> {
    const result = this.#last.then(() => this.#transact(work));
    this.#last = result.catch(() => {});
    return result;
  }

  async close(): Promise<void> {
    await this.#last;
    await this.#drop();
  }

  async #transact<Result>(work: (ask: Ask) => Promise<Result>): Promise<Result> {
    try {
      const client = this.#client ?? (await this.#connected());
      await this.#reach.check(client);
      await client.query(begin);
      const result = await work(async (text, values = []) => (await client.query(text, [...values])).rows);
      await client.query('commit');
      return result;
    } catch (error) {
      void this.#drop();
      throw forCaller(this.#place, error);
    }
  }

  async #connected(): Promise<pg.Client> {
    this.#reach.renew();
    const times = { connectionTimeoutMillis: answerMs, query_timeout: answerMs };
    const client = tolerant(new pg.Client({ ...clientConfig(this.#place), ...times }));
    this.#client = client;
    await client.connect();
    return client;
  }

  async #drop(): Promise<void> {
    const client = this.#client;
    this.#client = null;
    await client?.end().catch(() => {});
  }
}
