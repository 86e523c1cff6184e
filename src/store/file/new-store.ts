// A store that a start creates where there was one before: what the last process left beside it is put into it.
import type { Kysely } from 'kysely';
import { type NewStore, newStoreText } from '../../model/store-failure.ts';
import type { EpochMs } from '../../model/time.ts';
import { isOff, scopeKey, type WritesOff } from '../../model/write-scope.ts';
import { metaOf, setMeta } from '../schema/migrations.ts';
import type { Tables } from '../schema/tables.ts';
import { nameOfHolder } from './lock.ts';
import type { Left } from './outage-note.ts';

type Db = Kysely<Tables>;

/** In `meta`: with which outage that people were notified of the store before it was lost, and what is known of that one. */
const lostWith = 'lost_with';
const restored = '(restored: the store that had it was lost)';

/** For the log. */
export interface Beginning {
  readonly news: readonly string[];
  readonly warnings: readonly string[];
}

/** Names the holder of a store that was opened. In the same transaction a new one gets what was left of the one before. */
export function begin(db: Db, file: string, { left, now }: { left: Left; now: EpochMs }): Promise<Beginning> {
  return db.transaction().execute(async (trx) => {
    const isNew = (await metaOf(trx, 'holder')) === null;
    await setMeta(trx, 'holder', nameOfHolder(now));
    if (!isNew) return { news: [], warnings: [] };
    const said = `Created a new, empty store: ${file}.`;
    const { outage, stops, replaced, more } = left;
    if (!outage && !stops && !replaced) return { news: [said], warnings: [] };
    const inForce = (stops ?? []).filter((stop) => isOff(stop, now));
    await putStops(trx, inForce);
    const newStore: NewStore = { stops: inForce.length, more };
    if (outage) await setMeta(trx, lostWith, JSON.stringify({ outage: outage.alert.firingAt, newStore }));
    const lost = 'The last process had another one, which failed and was deleted, replaced or moved away.';
    return { news: [], warnings: [`${said} ${lost} ${newStoreText(newStore)}`] };
  });
}

async function putStops(trx: Db, stops: readonly WritesOff[]): Promise<void> {
  const rows = stops.map((stop) => {
    const reason = stop.reason.endsWith(restored) ? stop.reason : `${stop.reason} ${restored}`;
    return { scope: scopeKey(stop.scope), off: JSON.stringify({ ...stop, reason }) };
  });
  if (rows.length > 0) await trx.insertInto('writes_off').values(rows).execute();
}

/** What the store knows of the one that failed before it; null where that outage, which began then, was its own. */
export async function newStoreIn(db: Db, outage: EpochMs | null): Promise<NewStore | null> {
  const known = JSON.parse((await metaOf(db, lostWith)) ?? '{}');
  return known.outage === outage && outage !== null ? known.newStore : null;
}
