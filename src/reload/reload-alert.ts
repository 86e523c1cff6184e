// The alert config_reload_failed: fired by a refused reload, ended by one that succeeds and by a start.
import { step } from '../alert/engine.ts';
import { configReloadFailed } from '../alert/rules/reload-rule.ts';
import { tune } from '../alert/tuning.ts';
import type { RuleSettings } from '../model/rule-settings.ts';
import { recordAlerts } from '../notify/recorded-alerts.ts';
import type { RecorderRooms } from '../record/guarded-account.ts';

/** Fires it, or ends it when there are no problems. Rejects when the store can't be written. */
export async function recordReloadAlert(
  { fleet, store, world, onTransitions: recorded }: RecorderRooms,
  problems: readonly string[],
  rules: RuleSettings,
): Promise<void> {
  const conditions = tune([configReloadFailed(problems, world.command)], rules);
  const alerts = step(conditions, (fingerprint) => fleet.alert(fingerprint), world.clock.now());
  await recordAlerts({ fleet, store, recorded }, alerts);
}
