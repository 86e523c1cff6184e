// What a configuration takes away: enforcement, accounts, and every channel except recipes. People are notified of it, and of its end.

import type { RecorderRooms } from '../../account/record/guarded-account.ts';
import { atOnce, type Condition, tune } from '../../alerts/condition.ts';
import { step } from '../../alerts/engine.ts';
import { isForPeople } from '../../alerts/routing.ts';
import {
  accountRemoved,
  channelsBack,
  channelsRemoved,
  type EnforcementScope,
  enforcementOff,
  enforcementOn,
  enforcementSubject,
  isEnforcementAlert,
  removalsOver,
} from '../../alerts/rules/disarmed-rule.ts';
import type { Config } from '../../config/config.ts';
import { policyOf } from '../../config/mailbox-rules.ts';
import { fingerprintOf } from '../../core/alert.ts';
import type { EpochMs } from '../../core/time.ts';
import { recordAlerts } from '../../outbox/outbox-store.ts';

/** What a reload did. At a start nothing was switched off by anybody: `before` is what is in force. */
export interface Disarming {
  readonly before: Config;
  readonly after: Config;
  readonly removed: readonly { readonly account: string; readonly mailboxes: number }[];
  /** Who reloaded, and when. */
  readonly by: string;
  readonly at: EpochMs;
}

/** Rejects when the store can't be written. */
export async function recordDisarming(rooms: RecorderRooms, disarming: Disarming): Promise<void> {
  await record(rooms, tune(conditionsOf(rooms, disarming), disarming.after.alerts.rules));
}

/** The same together with the last channels, before these go, so that they get it. `gone`: their names. */
export async function recordChannelsGone(
  rooms: RecorderRooms,
  gone: readonly string[],
  { file, ...disarming }: Disarming & { readonly file: string },
): Promise<void> {
  const { after, by, at } = disarming;
  const removed = channelsRemoved({ channels: gone, file, by, at }, wordsOf(rooms, after));
  const tuned = tune([...conditionsOf(rooms, disarming), removed], after.alerts.rules);
  // Nobody could be notified later.
  const due = tuned.map((condition) => ({ ...condition, ...atOnce }));
  await record(rooms, due);
}

const wordsOf = ({ world }: RecorderRooms, { alerts }: Config) => ({
  command: world.command,
  zone: alerts.rules.timeZone,
});

function conditionsOf(rooms: RecorderRooms, { before, after, removed, by, at }: Disarming): readonly Condition[] {
  const { fleet, world } = rooms;
  const words = wordsOf(rooms, after);
  const off = new Map(scopesOff(after).map((scope) => [fingerprintOf(enforcementSubject(scope)), scope]));
  const was = new Set(scopesOff(before).map((scope) => fingerprintOf(enforcementSubject(scope))));
  const begun = [...off].filter(([fingerprint]) => !was.has(fingerprint));
  const ended = [...fleet.alerts()].filter((alert) => isEnforcementAlert(alert) && !off.has(alert.fingerprint));
  return [
    ...begun.map(([, scope]) => enforcementOff(scope, { by, at }, words)),
    ...ended.map(enforcementOn),
    ...removed.map((one) => accountRemoved({ ...one, by, at }, words)),
    ...removalsOver(
      fleet.alerts(),
      after.accounts.map(({ name }) => name),
      world.clock.now(),
    ),
    ...(after.alerts.channels.some(isForPeople) ? [channelsBack()] : []),
  ];
}

async function record({ fleet, store, world, onTransitions: recorded }: RecorderRooms, due: readonly Condition[]) {
  const alerts = step(due, (fingerprint) => fleet.alert(fingerprint), world.clock.now());
  await recordAlerts({ fleet, store, recorded }, alerts);
}

/** Where the configuration says `enforce: false`: everywhere, or in overrides. */
function scopesOff({ accounts }: Config): readonly EnforcementScope[] {
  if (accounts.some(({ guard }) => !policyOf(guard).enforce)) return [{ kind: 'everything' }];
  return accounts.flatMap(({ name: account, overrides }) =>
    overrides
      .filter(({ guard }) => guard.enforce === false)
      .map(({ match }): EnforcementScope => ({ kind: 'override', account, match })),
  );
}
