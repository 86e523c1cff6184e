// Rows of the circuit breakers: one head per API and one row per entry, so that the size of a write does not grow with
// the number of held mailboxes.
import type { BreakerEntry, BreakerState } from '../core/guard/breaker.ts';
import type { BreakerMove, BreakerRecord } from './records.ts';
import { inPieces, lastOfEach, parsed, upsert } from './rows.ts';
import type { Db } from './schema/tables.ts';

/** Reads the breakers of all APIs. */
export async function loadBreakers(db: Db): Promise<readonly BreakerRecord[]> {
  const heads = await db.selectFrom('breakers').selectAll().execute();
  const rows = await db.selectFrom('breaker_entries').selectAll().orderBy('place').execute();
  return heads.map(({ api, head }) => ({
    api,
    state: {
      ...parsed<Omit<BreakerState, 'entries'>>(head, 'breakers', { api }),
      entries: rows
        .filter((row) => row.api === api)
        .map(({ key, entry }) => parsed<BreakerEntry>(entry, 'breaker_entries', { api, key })),
    },
  }));
}

/** Writes the head and the entries that changed. */
export async function writeBreaker(db: Db, { api, before, state }: BreakerMove): Promise<void> {
  const { gone, added } = entriesBetween(before.entries, state.entries);
  await inPieces(gone, (some) =>
    db.deleteFrom('breaker_entries').where('api', '=', api).where('key', 'in', some).execute(),
  );
  const places = db.selectFrom('breaker_entries').select((of) => of.fn.max('place').as('last'));
  const { last } = await places.where('api', '=', api).executeTakeFirstOrThrow();
  const rows = added.map((entry, index) => ({
    ...{ api, key: entry.key, place: (last ?? 0) + index + 1 },
    entry: JSON.stringify(entry),
  }));
  await upsert(db, 'breaker_entries', rows);
  const { entries: _, ...head } = state;
  await upsert(db, 'breakers', [{ api, head: JSON.stringify(head) }]);
}

/** Unchanged entries are the same objects in the same order, followed by the new ones: one pass finds both. */
function entriesBetween(before: readonly BreakerEntry[], after: readonly BreakerEntry[]) {
  let stayed = 0;
  const left = new Set<string>();
  for (const entry of before) {
    if (entry === after[stayed]) stayed += 1;
    else left.add(entry.key);
  }
  const added = lastOfEach(after.slice(stayed), ({ key }) => key);
  for (const { key } of added) left.delete(key);
  return { gone: [...left], added };
}
