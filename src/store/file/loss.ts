// What a store lacks that a start creates, or finds in the place of the one that failed: what the last process left beside it is put
// into it.
import type { Kysely } from 'kysely';
import { type Loss, lossText } from '../../core/store-failure.ts';
import type { EpochMs } from '../../core/time.ts';
import { isOff, scopeKey, type WritesOff } from '../../core/write-scope.ts';
import { metaOf, setMeta } from '../schema/migrations.ts';
import type { Tables } from '../schema/tables.ts';
import { nameOfHolder } from './lock.ts';
import type { Left } from './outage-note.ts';

type Db = Kysely<Tables>;

/** In `meta`: with which outage that people were notified of the store before it was lost, and what is known of that one. */
const lostWith = 'lost_with';
const restored = '(restored: the store that had it was lost)';
const gone = 'The previous store failed, and was deleted, replaced or moved away.';

/** For the log. */
export interface Beginning {
  readonly news: readonly string[];
  readonly warnings: readonly string[];
}

/**
 * Names the holder of a store that was opened. In the same transaction it gets the emergency stops that were in force while the one
 * before it failed: a backup, or an empty store, may lack them.
 */
export function begin(db: Db, file: string, { left, now }: { left: Left; now: EpochMs }): Promise<Beginning> {
  return db.transaction().execute(async (trx) => {
    const isNew = (await metaOf(trx, 'holder')) === null;
    await setMeta(trx, 'holder', nameOfHolder(now));
    const said = `Created a new, empty store: ${file}.`;
    const { outage, stops, replaced, more, unreadable } = left;
    if (!outage && !stops && !replaced && !unreadable) return { news: isNew ? [said] : [], warnings: [] };
    const lacking = await lackingIn(
      trx,
      (stops ?? []).filter((stop) => isOff(stop, now)),
    );
    if (!isNew && lacking.length === 0) return { news: [], warnings: [] };
    await putStops(trx, lacking);
    const loss: Loss = { everything: isNew, stops: stops && lacking.length, more };
    if (outage) await setMeta(trx, lostWith, JSON.stringify({ outage: outage.alert.firingAt, loss }));
    return { news: [], warnings: [isNew ? `${said} ${gone} ${lossText(loss)}` : lossText(loss)] };
  });
}

/** Those of the stops that the store does not have. */
async function lackingIn(trx: Db, stops: readonly WritesOff[]): Promise<readonly WritesOff[]> {
  const rows = await trx.selectFrom('writes_off').select('scope').execute();
  const known = new Set(rows.map(({ scope }) => scope));
  return stops.filter(({ scope }) => !known.has(scopeKey(scope)));
}

async function putStops(trx: Db, stops: readonly WritesOff[]): Promise<void> {
  const rows = stops.map((stop) => {
    const reason = stop.reason.endsWith(restored) ? stop.reason : `${stop.reason} ${restored}`;
    return { scope: scopeKey(stop.scope), off: JSON.stringify({ ...stop, reason }) };
  });
  if (rows.length > 0) await trx.insertInto('writes_off').values(rows).execute();
}

/** What was lost with the store that failed before this one; null where that outage, which began then, was its own. */
export async function lossIn(db: Db, outage: EpochMs | null): Promise<Loss | null> {
  const known = JSON.parse((await metaOf(db, lostWith)) ?? '{}');
  return known.outage === outage && outage !== null ? (known.loss ?? null) : null;
}
