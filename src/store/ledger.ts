// The store as a reader sees it beside a running daemon: nothing is locked, nothing can be written.

import type { Kysely } from 'kysely';
import type { AccountLedger } from '../core/ledger.ts';
import { nameOf, type StorePlace } from '../core/store-failure.ts';
import { StoreError } from './failure.ts';
import { connectReadOnly, storeError } from './file/connection.ts';
import { problemsIn } from './file/integrity.ts';
import { absenceOf } from './file/place.ts';
import { sizesOf } from './file/sizes.ts';
import { refuseNewer, schemaOf, schemaVersion } from './schema/migrations.ts';
import { parsed } from './schema/stored.ts';
import type { Tables } from './schema/tables.ts';
import type { SizesAsked, StoreSizes } from './sizes.ts';

/** A store that is open for reading. */
interface Reading {
  readonly db: Kysely<Tables>;
  /** One sentence for a read that failed. */
  readonly sentence: (error: unknown) => Error;
  /** The schema that it has. */
  readonly schema: () => Promise<number>;
  readonly sizes: (asked: SizesAsked) => Promise<StoreSizes>;
  readonly problems: () => Promise<readonly string[]>;
}

export class Ledger {
  /** For people. Of a SQLite store its file. */
  readonly #name: string;
  readonly #reading: Reading;
  /** Asked once. */
  #schema: Promise<number> | null = null;

  private constructor(name: string, reading: Reading) {
    this.#name = name;
    this.#reading = reading;
  }

  /** Throws StoreError when there is no store at the path, or none that can be read. What a newer version wrote is refused by each read. */
  static open(path: string): Ledger {
    const absence = absenceOf(path);
    if (absence !== null) throw new StoreError(absence);
    const db = connectReadOnly(path);
    return new Ledger(path, {
      db,
      sentence: (error) => storeError(path, error),
      schema: () => schemaOf(db),
      sizes: (asked) => sizesOf(db, path, asked),
      problems: () => problemsIn(db),
    });
  }

  /** As `open`, also on PostgreSQL. */
  static async at(place: StorePlace): Promise<Ledger> {
    if (typeof place === 'string') return Ledger.open(place);
    const { readPostgres } = await import('./postgres/reading.ts');
    return new Ledger(nameOf(place), await readPostgres(place));
  }

  get #db(): Kysely<Tables> {
    return this.#reading.db;
  }

  async close(): Promise<void> {
    await this.#db.destroy();
  }

  /** How large it is, and what is past its retention. */
  sizes(asked: SizesAsked): Promise<StoreSizes> {
    return this.#current(() => this.#reading.sizes(asked));
  }

  /** What is wrong with it, in sentences; empty when it is sound. It is read as a whole. */
  problems(): Promise<readonly string[]> {
    return this.#current(() => this.#reading.problems());
  }

  /** Rejects as every read does: when the store is damaged, or belongs to a newer version. */
  check(): Promise<void> {
    return this.#read(async () => {});
  }

  /** Whether an earlier version wrote it, and none of this one has started on it. Rejects as `check` does. */
  isEarlier(): Promise<boolean> {
    return this.#read(async () => (await this.#reading.schema()) < schemaVersion);
  }

  /** Reads what an earlier version did not write. */
  async #current<Value>(work: () => Promise<Value>): Promise<Value> {
    if (await this.isEarlier()) throw new StoreError(earlier(this.#name));
    return this.#read(work);
  }

  /** Every failure as one sentence that names the file. */
  async #read<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      this.#schema ??= this.#reading.schema();
      refuseNewer(await this.#schema);
      return await work();
    } catch (error) {
      // What an earlier version has no table for is not damaged.
      const schema = await this.#schema?.catch(() => null);
      throw (schema ?? schemaVersion) < schemaVersion
        ? new StoreError(earlier(this.#name))
        : this.#reading.sentence(error);
    }
  }
}

const earlier = (path: string) =>
  `The store ${path} was written by an earlier version of Warmwarden: start the daemon once to upgrade it.`;

// The ledgers of accounts, for the process that takes the lease over.

type Db = Kysely<Tables>;

export async function writeLedgers(trx: Db, ledgers: readonly AccountLedger[]): Promise<void> {
  for (const ledger of ledgers) {
    const row = { account: ledger.account, ledger: JSON.stringify(ledger) };
    await trx
      .insertInto('ledgers')
      .values(row)
      .onConflict((conflict) => conflict.column('account').doUpdateSet({ ledger: row.ledger }))
      .execute();
  }
}

/** Of all accounts that ever had one. */
export async function loadLedgers(db: Db): Promise<readonly AccountLedger[]> {
  const rows = await db.selectFrom('ledgers').selectAll().execute();
  return rows.map(({ account, ledger }) => parsed<AccountLedger>(ledger, 'ledgers', { account }));
}
