// Settings by people: silences and write stops.
import type { Action } from '../core/action.ts';
import type { Silence } from '../core/alert.ts';
import type { EpochMs } from '../core/time.ts';
import { isOff, scopeKey, scopesOver, type WritesOff } from '../core/write-scope.ts';
import { parsed, storedWritesOff, upsert } from './rows.ts';
import type { Db } from './schema/tables.ts';

/** Year 9999. */
const latestMoment = Date.UTC(9999, 0, 1);

/** An expired silence stays until the next upkeep. */
export function writeSilence(trx: Db, silence: Silence): Promise<void> {
  const { id, until, repeats } = silence;
  // A last window that began before the end of the repetition ends after it.
  const last = repeats ? (repeats.ends ?? latestMoment) + until - silence.from : until;
  return upsert(trx, 'silences', [{ id, until: last, silence: JSON.stringify(silence) }]);
}

export async function loadSilences(db: Db): Promise<readonly Silence[]> {
  const rows = await db.selectFrom('silences').select(['id', 'silence']).orderBy('until').execute();
  return rows.map(({ id, silence }) => parsed<Silence>(silence, 'silences', { id }));
}

export async function loadWritesOff(db: Db): Promise<readonly WritesOff[]> {
  return (await db.selectFrom('writes_off').selectAll().execute()).map(storedWritesOff);
}

export async function writesOffOver(
  db: Db,
  { account, mailboxId }: Pick<Action, 'account' | 'mailboxId'>,
  now: EpochMs,
): Promise<WritesOff | null> {
  const keys = scopesOver(account, mailboxId).map(scopeKey);
  const rows = await db.selectFrom('writes_off').selectAll().where('scope', 'in', keys).execute();
  return rows.map(storedWritesOff).find((off) => isOff(off, now)) ?? null;
}
