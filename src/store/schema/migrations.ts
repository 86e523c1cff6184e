// The steps that bring a store to this version's schema. A released step never changes; a newer store is refused. Until 0.1.0 is
// released, a new column goes into the baseline.
import { sql } from 'kysely';
import { upsert } from '../rows.ts';
import { baseline, type Db } from './tables.ts';

interface Migration {
  readonly up: (db: Db) => Promise<void>;
  /** True if a process of the previous version may continue to write after the step. */
  readonly olderMayWrite: boolean;
}

const migrations: readonly Migration[] = [{ up: baseline, olderMayWrite: false }];

export const schemaVersion = migrations.length;

/** The oldest schema version whose program may write to a store of this version. */
export const oldestCompatible = 1 + migrations.findLastIndex(({ olderMayWrite }) => !olderMayWrite);

/** The store was written by a newer Warmwarden. Exit code 3. */
export class NewerStoreError extends Error {
  override readonly name = 'NewerStoreError';
}

/** Each step has its own transaction, or that of `transact`. Throws NewerStoreError. */
export async function migrate(
  db: Db,
  transact: (work: (trx: Db) => Promise<void>) => Promise<void> = (work) => db.transaction().execute(work),
): Promise<void> {
  await sql`CREATE TABLE IF NOT EXISTS meta (key text PRIMARY KEY, value text NOT NULL)`.execute(db);
  const current = await schemaOf(db);
  refuseNewer(current);
  for (const [index, { up }] of migrations.entries()) {
    if (index < current) continue;
    await transact(async (trx) => {
      await up(trx);
      await setMeta(trx, 'schema_version', String(index + 1));
    });
  }
}

export function refuseNewer(version: number): void {
  if (version <= schemaVersion) return;
  throw new NewerStoreError(
    `The store has schema version ${version}, but this Warmwarden supports only ${schemaVersion}: start the newer version again, or use another store.`,
  );
}

export async function schemaOf(db: Db): Promise<number> {
  return Number((await metaOf(db, 'schema_version')) ?? 0);
}

export async function metaOf(db: Db, key: string): Promise<string | null> {
  const row = await db.selectFrom('meta').select('value').where('key', '=', key).executeTakeFirst();
  return row?.value ?? null;
}

export function setMeta(db: Db, key: string, value: string): Promise<void> {
  return upsert(db, 'meta', [{ key, value }]);
}
