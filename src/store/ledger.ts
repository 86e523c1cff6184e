// The store for a reader beside a running daemon: it locks nothing and can't write.
import { sql } from 'kysely';
import { nameOf, type StorePlace } from '../core/store-failure.ts';
import { failureOf, StoreError } from './failure.ts';
import { connectReadOnly, storeError } from './file/connection.ts';
import { absenceOf } from './file/place.ts';
import { namedAtMost, type ReadableDatabase, rowProblems } from './inspection.ts';
import { refuseNewer, schemaOf, schemaVersion } from './schema/migrations.ts';
import type { Db } from './schema/tables.ts';

export class Ledger {
  readonly #name: string;
  readonly #database: ReadableDatabase;

  private constructor(name: string, database: ReadableDatabase) {
    this.#name = name;
    this.#database = database;
  }

  static open(path: string): Ledger {
    const absence = absenceOf(path);
    if (absence !== null) throw new StoreError(absence);
    const db = connectReadOnly(path);
    return new Ledger(path, {
      db,
      sentence: (error) => storeError(path, error),
      schema: () => schemaOf(db),
      problems: () => fileProblems(db),
    });
  }

  static async at(place: StorePlace): Promise<Ledger> {
    if (typeof place === 'string') return Ledger.open(place);
    const { readPostgres } = await import('./postgres/reading.ts');
    return new Ledger(nameOf(place), await readPostgres(place));
  }

  async close(): Promise<void> {
    await this.#database.db.destroy();
  }

  async problems(): Promise<readonly string[]> {
    if (await this.isEarlier())
      throw new StoreError(
        `The store ${this.#name} was written by an earlier version of Warmwarden: start the daemon once to upgrade it.`,
      );
    try {
      return await this.#database.problems();
    } catch (error) {
      throw this.#database.sentence(error);
    }
  }

  /** Rejects if a newer version wrote the store, or if it can't be read. */
  async isEarlier(): Promise<boolean> {
    try {
      const schema = await this.#database.schema();
      refuseNewer(schema);
      return schema < schemaVersion;
    } catch (error) {
      throw this.#database.sentence(error);
    }
  }
}

async function fileProblems(db: Db): Promise<readonly string[]> {
  const damages = await damageOf(db);
  return damages.length > 0 ? damages.map((said) => `The file is damaged: ${said.trim()}.`) : rowProblems(db);
}

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
