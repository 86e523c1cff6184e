// What a look of the notifier changed about alerts: committed, then shown, then passed on.
import type { AlertChanges } from '../model/alert.ts';
import type { RecordingParts } from './parts.ts';

/** Does nothing when nothing changed. Rejects when the store can't be written: then nothing is shown. */
export async function recordAlerts({ store, fleet, recorded }: RecordingParts, changes: AlertChanges): Promise<void> {
  if (changes.changed.length + changes.dropped.length === 0) return;
  await store.recordAlerts(changes);
  fleet.putAlerts(changes);
  if (changes.transitions.length > 0) recorded();
}
