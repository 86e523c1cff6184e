// Pending and firing alerts, gone through in slices: in a storm there are as many as mailboxes.
import type { Alert } from '../core/alert.ts';
import { createPacer } from '../world/world.ts';

const sliceMs = 3;

/** Those that there are now. One that changes meanwhile is looked at as it was. */
export async function eachAlert(alerts: Iterable<Alert>, look: (alert: Alert) => void): Promise<void> {
  const pacer = createPacer(sliceMs, 'patient');
  for (const alert of [...alerts]) {
    if (pacer.due()) await pacer.turn();
    look(alert);
  }
}
