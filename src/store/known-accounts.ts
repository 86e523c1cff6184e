// The accounts that were ever configured on the store, with their APIs: mailboxes of removed accounts are found by them.
import { inPieces } from './pieces.ts';
import type { AccountMove, KnownAccount } from './records.ts';
import { parsed } from './rows.ts';
import type { Db } from './schema/tables.ts';

const prefix = 'account|';

/** Each as it was configured last. */
export async function loadKnownAccounts(db: Db): Promise<readonly KnownAccount[]> {
  const rows = await db.selectFrom('meta').selectAll().where('key', 'like', `${prefix}%`).orderBy('key').execute();
  return rows.map(({ key, value }) => ({
    ...parsed<Omit<KnownAccount, 'name'>>(value, 'meta', { key }),
    name: key.slice(prefix.length),
  }));
}

/** Names that an account of another API had before, and that go on as those of a moved account: its mailboxes are not theirs. */
export function takenNames(moves: readonly AccountMove[], known: readonly KnownAccount[]): readonly string[] {
  const apis = new Map(known.map(({ name, api }) => [name, api]));
  const isTaken = ({ from, to, ids }: AccountMove) => {
    const [was, is] = [apis.get(to), apis.get(from)];
    return ids === null && was !== undefined && is !== undefined && was !== is;
  };
  // One that goes on under a third name takes its mailboxes with it.
  const leaves = new Set(moves.filter(({ ids }) => ids === null).map(({ from }) => from));
  return moves.filter((move) => isTaken(move) && !leaves.has(move.to)).map(({ to }) => to);
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
