// Circuit breakers and their alerts, as far as people or other accounts change them. Answers change them in after-answer.ts.
import { type Condition, tune } from '../../alerts/condition.ts';
import { step } from '../../alerts/engine.ts';
import { guardHeld, heldSubject } from '../../alerts/rules/breaker-rule.ts';
import { fingerprintOf } from '../../core/alert.ts';
import type { RuleSettings } from '../../core/alert-rules.ts';
import type { Fleet } from '../../core/fleet/fleet.ts';
import {
  applyHeld,
  type BreakerEntry,
  type BreakerState,
  discardHeld,
  heldEntries,
  withdrawOthers,
} from '../../core/guard/breaker.ts';
import { isContested, recentReversals, withoutCounts, withoutReversals } from '../../core/guard/memory.ts';
import { accountOfKey, aheadMs, idOfKey, type MailboxState } from '../../core/mailbox.ts';
import type { EpochMs } from '../../core/time.ts';
import type { RecorderRooms } from './guarded-account.ts';

type BreakerRooms = Pick<RecorderRooms, 'fleet' | 'store' | 'turns' | 'world' | 'onTransitions'>;

interface BreakerSettings {
  readonly api: string;
  /** Time that the breaker holds actions before it lets the worst pass, milliseconds. */
  readonly windowMs: number;
  readonly rules: RuleSettings;
}

/** Condition of the breaker's alert. `judged`: a state of a mailbox that is newer than the fleet's. */
export function heldCondition(
  fleet: Fleet,
  state: BreakerState,
  { api, windowMs, rules }: BreakerSettings,
  now: EpochMs,
  judged?: MailboxState,
): Condition {
  const verdictOf = ({ key, account }: BreakerEntry) => {
    const id = idOfKey(key);
    const isJudged = judged?.account === account && judged.id === id;
    return (isJudged ? judged : fleet.mailbox(account, id))?.verdict?.answer;
  };
  const alert = fleet.alert(fingerprintOf(heldSubject(api)));
  return guardHeld(state, { api, windowMs, alert, now, zone: rules.timeZone, verdictOf });
}

/** Records and shows the state of a breaker, with its alert and changed mailboxes. To be called within a turn. */
async function moveBreaker(
  rooms: BreakerRooms,
  state: BreakerState,
  settings: BreakerSettings,
  mailboxes: readonly MailboxState[] = [],
): Promise<void> {
  const { fleet, store, world, onTransitions } = rooms;
  const { api, rules } = settings;
  const now = world.clock.now();
  const before = fleet.breaker(api);
  const conditions = tune([heldCondition(fleet, state, settings, now)], rules);
  const alerts = step(conditions, (fingerprint) => fleet.alert(fingerprint), now);
  const breaker = state === before ? null : { api, state, before };
  if (breaker || alerts.changed.length + alerts.dropped.length + mailboxes.length > 0)
    await store.recordBreaker({ breaker, alerts }, mailboxes);
  for (const mailbox of mailboxes) fleet.putMailbox(mailbox);
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
    const { fleet } = rooms;
    for (const settings of apis()) {
      const { api, accounts } = settings;
      await moveBreaker(rooms, withdrawOthers(fleet.breaker(api), new Set(accounts)), settings);
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

// Decisions of a person about the actions that a breaker holds, or about a contested mailbox.

/** apply: the held actions are carried out. discard: they are dropped, with the counts that led to them. */
export type HoldsEnd = 'apply' | 'discard';

/**
 * Ends all holds of the breaker of `api`, and returns the keys of their mailboxes. Changes nothing and returns null if
 * the held mailboxes are not those that `agreed` names. A null `agreed` stands for any.
 */
export function endHolds(
  rooms: BreakerRooms,
  settings: BreakerSettings,
  { end, agreed }: { readonly end: HoldsEnd; readonly agreed: readonly string[] | null },
): Promise<readonly string[] | null> {
  return rooms.turns.take(async () => {
    const before = rooms.fleet.breaker(settings.api);
    const held = heldEntries(before).map(({ key }) => key);
    if (before.openSince === null) return [];
    if (agreed && (agreed.length !== held.length || !held.every((key) => agreed.includes(key)))) return null;
    if (end === 'apply') await moveBreaker(rooms, applyHeld(before), settings);
    else
      await moveBreaker(
        rooms,
        discardHeld(before),
        settings,
        held.flatMap((key) => withoutItsCounts(rooms, key) ?? []),
      );
    return held;
  });
}

/** Returns null for a mailbox that was never judged. */
function withoutItsCounts({ fleet, world }: BreakerRooms, key: string): MailboxState | null {
  const account = accountOfKey(key);
  const before = fleet.mailbox(account, idOfKey(key));
  if (!before?.memory) return null;
  const apiAheadMs = aheadMs(fleet.account(account));
  const rows = before.stats?.answer.rows ?? null;
  return { ...before, memory: withoutCounts(before.memory, { rows, now: world.clock.now(), apiAheadMs }) };
}

export function contestOver({ memory }: MailboxState, now: EpochMs) {
  return { reversals: memory ? recentReversals(memory, now) : [], isHeld: memory !== null && isContested(memory, now) };
}

/** The guard may act again although others reversed its changes. Returns false if no reversal counts any more. */
export function endContest(rooms: BreakerRooms, mailbox: MailboxState): Promise<boolean> {
  return rooms.turns.take(async () => {
    const { fleet, store, world } = rooms;
    const before = fleet.mailbox(mailbox.account, mailbox.id);
    if (!before?.memory || contestOver(before, world.clock.now()).reversals.length === 0) return false;
    const after = { ...before, memory: withoutReversals(before.memory) };
    await store.recordMailbox(after);
    fleet.putMailbox(after);
    return true;
  });
}
