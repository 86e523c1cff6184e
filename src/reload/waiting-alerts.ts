// What time does to alerts that only a reload speaks about: `for` passes, and reminders of an account that was removed end.

import { elapse, step } from '../alert/engine.ts';
import { isEnforcementAlert, isOfChannels, isRemoval, removalsOver } from '../alert/rules/disarmed-rule.ts';
import { type Alert, type AlertChanges, bothChanges, noAccount } from '../model/alert.ts';
import { recordAlerts } from '../notify/recorded-alerts.ts';
import type { RecorderRooms } from '../record/guarded-account.ts';

/** In a turn, like the reloads. An account's own alerts are those of its recorder. Rejects when the store can't be written. */
export async function settleReloadAlerts(rooms: RecorderRooms): Promise<void> {
  const { fleet, store, turns, onTransitions } = rooms;
  if (moved(rooms).changed.length === 0) return;
  await turns.take(() => recordAlerts({ fleet, store, recorded: onTransitions }, moved(rooms)));
}

function moved({ fleet, world }: RecorderRooms): AlertChanges {
  const now = world.clock.now();
  const own = [...fleet.alertsOf(noAccount)].filter(isOfReload);
  const over = removalsOver(own, [], now);
  const isOver = new Set(over.map(({ subject }) => subject.object));
  const ended = step(over, (fingerprint) => fleet.alert(fingerprint), now);
  return bothChanges(
    ended,
    elapse(
      own.filter(({ object }) => !isOver.has(object)),
      now,
    ),
  );
}

function isOfReload(alert: Alert): boolean {
  return alert.rule === 'config_reload_failed' || [isEnforcementAlert, isRemoval, isOfChannels].some((is) => is(alert));
}
