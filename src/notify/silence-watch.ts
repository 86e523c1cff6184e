// Watches the silences: one that mutes everything is an alert that no silence mutes.
import { messagesSilenced } from '../alert/disarmed-rule.ts';
import { step } from '../alert/engine.ts';
import { tune } from '../alert/tuning.ts';
import type { ChannelWatchParts } from './channel-watch.ts';

const everyMs = 30_000;

/** One look: records what it finds, then shows it. Returns how long to wait for the next one, milliseconds. */
export async function watchSilences({ world, store, fleet, settings, recorded }: ChannelWatchParts): Promise<number> {
  const { rules } = settings();
  const now = world.clock.now();
  const accounts = [...fleet.accounts()].map(({ name }) => name);
  const words = { command: world.command, zone: rules.timeZone, accounts };
  const conditions = tune(messagesSilenced(fleet.silences(now), fleet.alerts(), words), rules);
  const changes = step(conditions, (fingerprint) => fleet.alert(fingerprint), now);
  if (changes.changed.length + changes.dropped.length === 0) return everyMs;
  await store.recordAlerts(changes);
  for (const alert of changes.changed) fleet.putAlert(alert);
  for (const fingerprint of changes.dropped) fleet.removeAlert(fingerprint);
  if (changes.transitions.length > 0) recorded();
  return everyMs;
}
