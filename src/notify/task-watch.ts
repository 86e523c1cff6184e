// Watches the periodic tasks of this process and notifies people of one that keeps failing, unless composing or sending is what fails.

import { step } from '../alert/engine.ts';
import { taskFailing } from '../alert/rules/task-rule.ts';
import { tune } from '../alert/tuning.ts';
import type { Loops } from '../loop.ts';
import type { ChannelWatchParts } from './channel-watch.ts';
import { recordAlerts } from './recorded-alerts.ts';

const everyMs = 30_000;

/** One look: records what it finds, then shows it. Returns how long to wait for the next one, milliseconds. */
export async function watchTasks(parts: ChannelWatchParts, loops: Pick<Loops, 'failing'>): Promise<number> {
  const { world, fleet, settings } = parts;
  const { rules } = settings();
  const conditions = tune([taskFailing(loops.failing(), fleet.storeFailure !== null, rules.timeZone)], rules);
  await recordAlerts(
    parts,
    step(conditions, (fingerprint) => fleet.alert(fingerprint), world.clock.now()),
  );
  return everyMs;
}
