// Circuit breakers and their alerts, as far as a release or other accounts change them. Ticks change them elsewhere.
import { tune } from '../../alerts/condition.ts';
import { step } from '../../alerts/engine.ts';
import { guardHeld, heldSubject } from '../../alerts/rules/breaker-rule.ts';
import { type AlertChanges, fingerprintOf } from '../../core/alert.ts';
import {
  type BreakerEntry,
  type BreakerState,
  heldEntries,
  release,
  withdrawOthers,
} from '../../core/guard/breaker.ts';
import { afterRelease, isContested, recentReversals } from '../../core/guard/memory.ts';
import { idOfKey, type MailboxState } from '../../core/mailbox.ts';
import type { RuleSettings } from '../../core/rule-settings.ts';
import type { EpochMs } from '../../core/time.ts';
import type { RecorderRooms } from './guarded-account.ts';

type BreakerRooms = Pick<RecorderRooms, 'fleet' | 'store' | 'turns' | 'world' | 'onTransitions'>;

interface BreakerSettings {
  readonly api: string;
  /** Time that the breaker holds actions before it lets the worst pass, milliseconds. */
  readonly windowMs: number;
  readonly rules: RuleSettings;
}

function heldAlert({ fleet, world }: BreakerRooms, state: BreakerState, settings: BreakerSettings): AlertChanges {
  const now = world.clock.now();
  const { api, rules } = settings;
  const alert = fleet.alert(fingerprintOf(heldSubject(api)));
  const verdictOf = ({ key, account }: BreakerEntry) => fleet.mailbox(account, idOfKey(key))?.verdict?.answer;
  const about = { ...settings, alert, now, command: world.command, zone: rules.timeZone, verdictOf };
  return step(tune([guardHeld(state, about)], rules), () => alert, now);
}

function showBreaker(rooms: BreakerRooms, api: string, state: BreakerState, alerts: AlertChanges): void {
  const { fleet, onTransitions } = rooms;
  fleet.putBreaker(api, state);
  fleet.putAlerts(alerts);
  if (alerts.transitions.length > 0) onTransitions();
}

/** An API with the accounts that are guarded under it now, or with none if the configuration no longer has the API. */
export interface GuardedApi extends BreakerSettings {
  readonly accounts: readonly string[];
}

/** Withdraws held actions of accounts that left their API. `apis`: those configured, or with a breaker or an alert. */
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

/** Returns the APIs with a breaker, or with an alert that an earlier process left. */
export function shownApis({ fleet }: RecorderRooms): readonly string[] {
  const alerts = [...fleet.alerts()].filter(
    ({ fingerprint, object }) => fingerprint === fingerprintOf(heldSubject(object ?? '')),
  );
  return [...[...fleet.breakers()].map(([api]) => api), ...alerts.map(({ object }) => object ?? '')];
}

// Releases by a person: of the breaker that holds a fleet, or of the contest over one mailbox.

/**
 * Releases all actions that the breaker of `api` holds, and returns the keys of their mailboxes. Releases nothing and
 * returns null if the held mailboxes are not those that `agreed` names. A null `agreed` stands for any.
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

export function contestOver({ memory }: MailboxState, now: EpochMs) {
  return { reversals: memory ? recentReversals(memory, now) : [], isHeld: memory !== null && isContested(memory, now) };
}

/** The guard may act again although others reversed its changes. Returns false if no reversal counts any more. */
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
