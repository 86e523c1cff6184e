// Fires what a reload recorded and `for` made wait: unlike the other alerts, nothing comes back to these while they last.
import { isEnforcementAlert } from '../alert/disarmed-rule.ts';
import { elapse } from '../alert/engine.ts';
import { type Alert, noAccount } from '../model/alert.ts';
import { recordAlerts } from '../notify/recorded-alerts.ts';
import type { RecorderRooms } from '../record/guarded-account.ts';

/** In a turn, like the reloads. An account's own alerts are those of its recorder. Rejects when the store can't be written. */
export async function fireWaitingAlerts({ fleet, store, turns, world, onTransitions }: RecorderRooms): Promise<void> {
  const due = () => elapse([...fleet.alertsOf(noAccount)].filter(isOfReload), world.clock.now());
  if (due().changed.length === 0) return;
  await turns.take(() => recordAlerts({ fleet, store, recorded: onTransitions }, due()));
}

function isOfReload(alert: Alert): boolean {
  return alert.rule === 'config_reload_failed' || isEnforcementAlert(alert);
}
