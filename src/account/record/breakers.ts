// The circuit breakers and the alert about each: what changes both besides a tick, namely a release and other accounts.
import { tune } from '../../alerts/condition.ts';
import { step } from '../../alerts/engine.ts';
import { guardHeld, heldSubject } from '../../alerts/rules/breaker-rule.ts';
import { type AlertChanges, fingerprintOf } from '../../core/alert.ts';
import { type BreakerEntry, type BreakerState, heldEntries } from '../../core/breaker.ts';
import { release, withdrawOthers } from '../../core/guard/breaker.ts';
import { afterRelease, isContested, recentReversals } from '../../core/guard/memory.ts';
import { idOfKey, type MailboxState } from '../../core/mailbox.ts';
import type { RuleSettings } from '../../core/rule-settings.ts';
import type { EpochMs } from '../../core/time.ts';
import type { RecorderRooms } from './guarded-account.ts';

/** What moves a breaker. */
type BreakerRooms = Pick<RecorderRooms, 'fleet' | 'store' | 'turns' | 'world' | 'onTransitions'>;

/** How the breaker of an API is configured. */
interface BreakerSettings {
  /** The base_url. */
  readonly api: string;
  /** How long it holds before the worst are acted on, milliseconds. */
  readonly windowMs: number;
  readonly rules: RuleSettings;
  /** Base of the links in messages; null when there is no page. */
  readonly pageUrl: string | null;
}

/** What the state of a breaker does to its alert. */
function heldAlert({ fleet, world }: BreakerRooms, state: BreakerState, settings: BreakerSettings): AlertChanges {
  const now = world.clock.now();
  const { api, rules } = settings;
  const alert = fleet.alert(fingerprintOf(heldSubject(api)));
  const verdictOf = ({ key, account }: BreakerEntry) => fleet.mailbox(account, idOfKey(key))?.verdict?.answer;
  const about = { ...settings, alert, now, command: world.command, zone: rules.timeZone, verdictOf };
  return step(tune([guardHeld(state, about)], rules), () => alert, now);
}

/** Shows a breaker and its alert as they were committed. */
function showBreaker(rooms: BreakerRooms, api: string, state: BreakerState, alerts: AlertChanges): void {
  const { fleet, onTransitions } = rooms;
  fleet.putBreaker(api, state);
  fleet.putAlerts(alerts);
  if (alerts.transitions.length > 0) onTransitions();
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
      const before = fleet.breaker(api);
      const state = withdrawOthers(before, new Set(accounts));
      const alerts = heldAlert(rooms, state, settings);
      const breaker = state === before ? null : { api, state, before };
      if (breaker || alerts.changed.length + alerts.dropped.length > 0) await store.recordBreaker({ breaker, alerts });
      showBreaker(rooms, api, state, alerts);
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

// What a person's release changes: the breaker that holds a fleet, or the contest over one mailbox.

/**
 * Opens the way for everything that the breaker of `api` holds. Returns the keys of the mailboxes that were held; null,
 * and nothing is released, when these are not the ones that `agreed` names (null: whatever is held).
 */
export function releaseBreaker(
  rooms: BreakerRooms,
  settings: BreakerSettings,
  agreed: readonly string[] | null,
): Promise<readonly string[] | null> {
  return rooms.turns.take(async () => {
    const { fleet, store } = rooms;
    const { api } = settings;
    const before = fleet.breaker(api);
    const held = heldEntries(before).map(({ key }) => key);
    if (before.openSince === null) return [];
    if (agreed && !sameKeys(held, agreed)) return null;
    const state = release(before);
    const alerts = heldAlert(rooms, state, settings);
    await store.recordBreaker({ breaker: { api, state, before }, alerts });
    showBreaker(rooms, api, state, alerts);
    return held;
  });
}

/** What a release of the contest over a mailbox would end: the reversals that count, and whether they hold it. */
export function contestOver({ memory }: MailboxState, now: EpochMs) {
  return { reversals: memory ? recentReversals(memory, now) : [], isHeld: memory !== null && isContested(memory, now) };
}

/** The guard may act on a mailbox again although others reversed its changes. False when none of that counts any more. */
export function releaseContest(rooms: RecorderRooms, mailbox: MailboxState): Promise<boolean> {
  return rooms.turns.take(async () => {
    const { fleet, store, world } = rooms;
    const before = fleet.mailbox(mailbox.account, mailbox.id);
    if (!before?.memory || contestOver(before, world.clock.now()).reversals.length === 0) return false;
    const after = { ...before, memory: afterRelease(before.memory) };
    await store.recordMailbox(after);
    fleet.putMailbox(after);
    return true;
  });
}

function sameKeys(one: readonly string[], other: readonly string[]): boolean {
  const wanted = new Set(other);
  return one.length === other.length && one.every((key) => wanted.has(key));
}
