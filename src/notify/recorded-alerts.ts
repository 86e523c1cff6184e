// What was found about alerts: committed, then shown, then passed on.
import type { Fleet } from '../fleet/fleet.ts';
import type { AlertChanges } from '../model/alert.ts';

interface AlertRooms {
  readonly store: { recordAlerts(changes: AlertChanges): Promise<void> };
  readonly fleet: Pick<Fleet, 'putAlerts'>;
  /** Called after something was recorded that people may be notified of. */
  readonly recorded: () => void;
}

/** Does nothing when nothing changed. Rejects when the store can't be written: then nothing is shown. */
export async function recordAlerts({ store, fleet, recorded }: AlertRooms, changes: AlertChanges): Promise<void> {
  if (changes.changed.length + changes.dropped.length + changes.transitions.length === 0) return;
  await store.recordAlerts(changes);
  fleet.putAlerts(changes);
  if (changes.transitions.length > 0) recorded();
}
