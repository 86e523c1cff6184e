// The store as a reader sees it beside a running daemon: nothing is locked, nothing can be written.
import { sql } from 'kysely';
import { nameOf, type StorePlace } from '../core/store-failure.ts';
import type { ReadableDatabase } from './database.ts';
import { failureOf, StoreError } from './failure.ts';
import { connectReadOnly, storeError } from './file/connection.ts';
import { absenceOf } from './file/place.ts';
import { refuseNewer, schemaOf, schemaVersion } from './schema/migrations.ts';
import type { Db } from './schema/tables.ts';
import { fileSizes, type SizesAsked, type StoreSizes } from './sizes.ts';
import { namedAtMost, rowProblems } from './soundness.ts';

export class Ledger {
  /** For people. Of a SQLite store its file. */
  readonly #name: string;
  readonly #database: ReadableDatabase;

  private constructor(name: string, database: ReadableDatabase) {
    this.#name = name;
    this.#database = database;
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
      sizes: (asked) => fileSizes(db, path, asked),
      problems: () => fileProblems(db),
    });
  }

  /** As `open`, also on PostgreSQL. */
  static async at(place: StorePlace): Promise<Ledger> {
    if (typeof place === 'string') return Ledger.open(place);
    const { readPostgres } = await import('./postgres/reading.ts');
    return new Ledger(nameOf(place), await readPostgres(place));
  }

  async close(): Promise<void> {
    await this.#database.db.destroy();
  }

  /** How large it is, and what is past its retention. */
  sizes(asked: SizesAsked): Promise<StoreSizes> {
    return this.#read(() => this.#database.sizes(asked));
  }

  /** What is wrong with it, in sentences; empty when it is sound. It is read as a whole. */
  problems(): Promise<readonly string[]> {
    return this.#read(() => this.#database.problems());
  }

  /** Whether an earlier version wrote it, and none of this one has started on it. Rejects when a newer one did, or it can't be read. */
  async isEarlier(): Promise<boolean> {
    try {
      const schema = await this.#database.schema();
      refuseNewer(schema);
      return schema < schemaVersion;
    } catch (error) {
      throw this.#database.sentence(error);
    }
  }

  /** Reads what an earlier version did not write. Every failure is one sentence that names the store. */
  async #read<Value>(work: () => Promise<Value>): Promise<Value> {
    if (await this.isEarlier())
      throw new StoreError(
        `The store ${this.#name} was written by an earlier version of Warmwarden: start the daemon once to upgrade it.`,
      );
    try {
      return await work();
    } catch (error) {
      throw this.#database.sentence(error);
    }
  }
}

/** What is wrong with a file: damaged pages, and otherwise rows. */
async function fileProblems(db: Db): Promise<readonly string[]> {
  const damages = await damageOf(db);
  // What SQLite can't find its way in is not read further.
  return damages.length > 0 ? damages.map((said) => `The file is damaged: ${said.trim()}.`) : rowProblems(db);
}

/** In SQLite's words. */
async function damageOf(db: Db): Promise<readonly string[]> {
  try {
    const check = sql<{ integrity_check: string }>`PRAGMA integrity_check(${sql.lit(namedAtMost)})`;
    const { rows } = await check.execute(db);
    return rows.map(({ integrity_check: said }) => said).filter((said) => said !== 'ok');
  } catch (error) {
    const { said, lasting } = failureOf('', error);
    if (!lasting) throw error;
    return [said];
  }
}
