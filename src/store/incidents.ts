// Incidents as they were left: those that go on, and the ones that ended last.
import type { Incident } from '../core/incident.ts';
import { inPieces } from './pieces.ts';
import { parsed } from './rows.ts';
import type { Db } from './schema/tables.ts';

/** Ended ones that a start brings back into the picture. */
const endedLoaded = 50;

/** Those that go on, and the newest of those that have ended. */
export async function loadIncidents(db: Db): Promise<readonly Incident[]> {
  const all = db.selectFrom('incidents').select(['id', 'incident']);
  const open = await all.where('ended_at', 'is', null).execute();
  const ended = await all.where('ended_at', 'is not', null).orderBy('ended_at', 'desc').limit(endedLoaded).execute();
  return [...open, ...ended].map(({ id, incident }) => parsed<Incident>(incident, 'incidents', { id }));
}

/** Within the caller's transaction. */
export async function writeIncidents(trx: Db, incidents: readonly Incident[]): Promise<void> {
  await inPieces(incidents, (some) =>
    trx
      .insertInto('incidents')
      .values(
        some.map((one) => ({
          id: one.id,
          began_at: one.beganAt,
          ended_at: one.endedAt,
          incident: JSON.stringify(one),
        })),
      )
      .onConflict((conflict) =>
        conflict.column('id').doUpdateSet((of) => ({
          began_at: of.ref('excluded.began_at'),
          ended_at: of.ref('excluded.ended_at'),
          incident: of.ref('excluded.incident'),
        })),
      )
      .execute(),
  );
}
