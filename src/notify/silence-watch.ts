// Watches the silences: one that mutes everything is an alert that no silence mutes.

import { step } from '../alert/engine.ts';
import { messagesSilenced } from '../alert/rules/disarmed-rule.ts';
import { tune } from '../alert/tuning.ts';
import { noAccount } from '../model/alert.ts';
import type { ChannelWatchParts } from './channel-watch.ts';
import { recordAlerts } from './recorded-alerts.ts';

const everyMs = 30_000;

/** One look: records what it finds, then shows it. Returns how long to wait for the next one, milliseconds. */
export async function watchSilences(parts: ChannelWatchParts): Promise<number> {
  const { world, fleet, settings } = parts;
  const { rules } = settings();
  const now = world.clock.now();
  const accounts = [...fleet.accounts()].map(({ name }) => name);
  const words = { command: world.command, zone: rules.timeZone, accounts };
  const conditions = tune(messagesSilenced(fleet.silences(now), fleet.alertsOf(noAccount), words), rules);
  const changes = step(conditions, (fingerprint) => fleet.alert(fingerprint), now);
  await recordAlerts(parts, changes);
  return everyMs;
}
