// Parts of the store that the notifier needs. Each method that writes is a transaction of its own.
import type { Condition } from '../alerts/condition.ts';
import { step } from '../alerts/engine.ts';
import type { Channel } from '../channels/channel.ts';
import type { AlertChanges } from '../core/alert.ts';
import type { Fleet } from '../core/fleet/fleet.ts';
import type { EpochMs } from '../core/time.ts';
import type { Store } from '../store/store.ts';
import type { World } from '../world/world.ts';

export type OutboxStore = Pick<
  Store,
  | ('keepOutage' | 'keepStops' | 'outage' | 'endOutage')
  | ('trouble' | 'forgetTrouble' | 'onTrouble' | 'proveWritable')
  | ('recordAlerts' | 'outbox')
>;

export interface NotifyParts {
  readonly world: World;
  readonly store: OutboxStore;
  readonly fleet: Fleet;
}

export interface RecordingParts extends NotifyParts {
  readonly channels: () => readonly Channel[];
  readonly recorded: () => void;
}

type AlertRecording = Pick<RecordingParts, 'fleet' | 'recorded'> & {
  readonly store: Pick<OutboxStore, 'recordAlerts'>;
};

/** Shows the changes once they are recorded. Rejects if the store can't be written. */
export async function recordAlerts({ store, fleet, recorded }: AlertRecording, changes: AlertChanges): Promise<void> {
  if (changes.changed.length + changes.dropped.length + changes.transitions.length === 0) return;
  await store.recordAlerts(changes);
  fleet.putAlerts(changes);
  if (changes.transitions.length > 0) recorded();
}

/** Records what follows for alerts from what is wrong now. Rejects if the store can't be written. */
export function recordConditions(parts: AlertRecording, conditions: readonly Condition[], now: EpochMs): Promise<void> {
  return recordAlerts(
    parts,
    step(conditions, (fingerprint) => parts.fleet.alert(fingerprint), now),
  );
}
