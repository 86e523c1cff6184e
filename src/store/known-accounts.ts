// The accounts that were ever configured on the store, with their APIs: mailboxes of removed accounts are found by them.
import type { Kysely } from 'kysely';
import { inPieces } from './pieces.ts';
import type { KnownAccount } from './records.ts';
import { parsed } from './schema/parsed.ts';
import type { Tables } from './schema/tables.ts';

type Db = Kysely<Tables>;

const prefix = 'account|';

/** Each as it was configured last. */
export async function loadKnownAccounts(db: Db): Promise<readonly KnownAccount[]> {
  const rows = await db.selectFrom('meta').selectAll().where('key', 'like', `${prefix}%`).orderBy('key').execute();
  return rows.map(({ key, value }) => ({
    ...parsed<Omit<KnownAccount, 'name'>>(value, 'meta', { key }),
    name: key.slice(prefix.length),
  }));
}

/** Within the caller's transaction. `gone`: names that stand for nothing any more. */
export async function writeKnownAccounts(
  db: Db,
  accounts: readonly KnownAccount[],
  gone: readonly string[],
): Promise<void> {
  const keys = gone.map((name) => prefix + name);
  await inPieces(keys, (some) => db.deleteFrom('meta').where('key', 'in', some).execute());
  const rows = accounts.map(({ name, ...known }) => ({ key: prefix + name, value: JSON.stringify(known) }));
  await inPieces(rows, (some) =>
    db
      .insertInto('meta')
      .values(some)
      .onConflict((conflict) => conflict.column('key').doUpdateSet((of) => ({ value: of.ref('excluded.value') })))
      .execute(),
  );
}
