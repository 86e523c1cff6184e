// The circuit breakers and the alert about each: what changes both besides a tick, namely a release and other accounts.

import { step } from '../alert/engine.ts';
import { guardHeld, heldSubject } from '../alert/rules/breaker-rule.ts';
import { tune } from '../alert/tuning.ts';
import { withdrawOthers } from '../guard/breaker.ts';
import { type AlertChanges, fingerprintOf } from '../model/alert.ts';
import type { BreakerEntry, BreakerState } from '../model/breaker.ts';
import { idOfKey } from '../model/mailbox.ts';
import type { RuleSettings } from '../model/rule-settings.ts';
import type { StoredBreaker, WithdrawalRecord } from '../store/records.ts';
import type { RecorderRooms } from './guarded-account.ts';

/** What moves a breaker. */
export type BreakerRooms = Pick<RecorderRooms, 'fleet' | 'store' | 'turns' | 'world' | 'onTransitions'>;

/** How the breaker of an API is configured. */
export interface BreakerSettings {
  /** The base_url. */
  readonly api: string;
  /** How long it holds before the worst are acted on, milliseconds. */
  readonly windowMs: number;
  readonly rules: RuleSettings;
  /** Base of the links in messages; null when there is no page. */
  readonly pageUrl: string | null;
}

/** What the state of a breaker does to its alert. */
export function heldAlert(
  { fleet, world }: BreakerRooms,
  state: BreakerState,
  settings: BreakerSettings,
): AlertChanges {
  const now = world.clock.now();
  const { api, rules } = settings;
  const alert = fleet.alert(fingerprintOf(heldSubject(api)));
  const verdictOf = ({ key, account }: BreakerEntry) => fleet.mailbox(account, idOfKey(key))?.verdict?.answer;
  const about = { ...settings, alert, now, command: world.command, zone: rules.timeZone, verdictOf };
  return step(tune([guardHeld(state, about)], rules), () => alert, now);
}

/** Shows a breaker and its alert as they were committed. */
export function showBreaker(rooms: BreakerRooms, api: string, state: BreakerState, alerts: AlertChanges): void {
  const { fleet, onTransitions } = rooms;
  fleet.putBreaker(api, state);
  fleet.putAlerts(alerts);
  if (alerts.transitions.length > 0) onTransitions();
}

/** Shows what another replica has stored since: the breaker of an API, and its alert. */
export function showStored(fleet: BreakerRooms['fleet'], api: string, { state, alerts }: StoredBreaker): void {
  const held = fingerprintOf(heldSubject(api));
  const alert = alerts.find(({ fingerprint }) => fingerprint === held);
  fleet.putBreaker(api, state);
  if (alert) fleet.putAlert(alert);
  else fleet.removeAlert(held);
}

/** An API with the accounts that are guarded under it now; none when the configuration no longer has it. */
export interface GuardedApi extends BreakerSettings {
  readonly accounts: readonly string[];
}

/**
 * After other accounts are guarded than before: what the breaker held of an account that is no longer under its API is
 * withdrawn, and the alert follows. `apis`: all that are configured, or have a breaker or an alert.
 */
export function withdrawUnguarded(rooms: RecorderRooms, apis: () => readonly GuardedApi[]): Promise<void> {
  return rooms.turns.take(async () => {
    const { fleet, store } = rooms;
    for (const settings of apis()) {
      const { api, accounts } = settings;
      const decide = (): WithdrawalRecord => {
        const before = fleet.breaker(api);
        const state = withdrawOthers(before, new Set(accounts));
        return {
          breaker: state === before ? null : { api, state, before, again },
          alerts: heldAlert(rooms, state, settings),
        };
      };
      const again = async (stored: StoredBreaker) => {
        showStored(fleet, api, stored);
        record = decide();
        return record;
      };
      let record = decide();
      if (record.breaker || record.alerts.changed.length + record.alerts.dropped.length > 0)
        await store.recordBreaker(record);
      showBreaker(rooms, api, record.breaker?.state ?? fleet.breaker(api), record.alerts);
      if (accounts.length === 0) fleet.removeBreaker(api);
    }
  });
}

/** The APIs that something is shown of: a breaker, or an alert that an earlier process left. */
export function shownApis({ fleet }: RecorderRooms): readonly string[] {
  const alerts = [...fleet.alerts()].filter(
    ({ fingerprint, object }) => fingerprint === fingerprintOf(heldSubject(object ?? '')),
  );
  return [...[...fleet.breakers()].map(([api]) => api), ...alerts.map(({ object }) => object ?? '')];
}
