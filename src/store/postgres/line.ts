// A connection of its own for what must not wait behind the store's other work: transactions that are short, or fail.
import pg from 'pg';
import type { PostgresPlace } from '../../model/store-place.ts';
import { clientConfig, tolerant } from './connecting.ts';
import { told } from './failure.ts';

/** Longer, and the connection is given up: a beat that comes late is worth less than the next one. */
const answerMs = 4_000;
const limits = "set local statement_timeout = '3s'; set local lock_timeout = '500ms'";
const begin = `begin isolation level read committed; ${limits}; set local idle_in_transaction_session_timeout = '2s'`;

/** One statement; its rows. */
export type Ask = <Row>(text: string, values?: readonly unknown[]) => Promise<readonly Row[]>;

export class Line {
  readonly #place: PostgresPlace;
  #client: pg.Client | null = null;
  #last: Promise<unknown> = Promise.resolve();

  constructor(place: PostgresPlace) {
    this.#place = place;
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
      await client.query(begin);
      const result = await work(async (text, values = []) => (await client.query(text, [...values])).rows);
      await client.query('commit');
      return result;
    } catch (error) {
      void this.#drop();
      throw told(this.#place, error);
    }
  }

  async #connected(): Promise<pg.Client> {
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
