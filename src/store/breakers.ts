// The rows of the circuit breakers: a head an API and a row an entry, so that what a judgement writes does not grow with what is held.
import type { BreakerEntry, BreakerState } from '../core/breaker.ts';
import type { BreakerMove, BreakerRecord } from './records.ts';
import { inPieces, lastOfEach, parsed, upsert } from './rows.ts';
import type { Db } from './schema/tables.ts';

/** The breakers of all APIs. */
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

/** Writes the head, and of the entries those that moved. */
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

/** Entries that stayed are the same objects in the same order, and new ones come after them: one walk finds both. */
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
