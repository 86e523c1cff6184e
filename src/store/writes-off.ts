// The emergency stops as they are stored.
import type { Action } from '../core/action.ts';
import type { EpochMs } from '../core/time.ts';
import { isOff, scopeKey, scopesOver, type WritesOff } from '../core/write-scope.ts';
import { storedWritesOff } from './rows.ts';
import type { Db } from './schema/tables.ts';

/** Also those that have expired and were not yet taken away. */
export async function loadWritesOff(db: Db): Promise<readonly WritesOff[]> {
  return (await db.selectFrom('writes_off').selectAll().execute()).map(storedWritesOff);
}

/** The one that covers the mailbox of an action at that moment; null: none does. */
export async function writesOffOver(
  db: Db,
  { account, mailboxId }: Pick<Action, 'account' | 'mailboxId'>,
  now: EpochMs,
): Promise<WritesOff | null> {
  const keys = scopesOver(account, mailboxId).map(scopeKey);
  const rows = await db.selectFrom('writes_off').selectAll().where('scope', 'in', keys).execute();
  return rows.map(storedWritesOff).find((off) => isOff(off, now)) ?? null;
}
