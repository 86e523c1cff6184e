// What a configuration takes away: enforcement, accounts, and every channel except recipes. People are notified of it, and of its end.

import { atOnce, type Condition } from '../alert/condition.ts';
import { step } from '../alert/engine.ts';
import { isForPeople } from '../alert/routing.ts';
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
} from '../alert/rules/disarmed-rule.ts';
import { tune } from '../alert/tuning.ts';
import type { Config } from '../config/config.ts';
import { policyOf } from '../config/mailbox-rules.ts';
import { fingerprintOf } from '../model/alert.ts';
import type { RuleSettings } from '../model/rule-settings.ts';
import type { EpochMs } from '../model/time.ts';
import { recordAlerts } from '../notify/recorded-alerts.ts';
import type { RecorderRooms } from '../record/guarded-account.ts';

/** What a reload did. At a start nothing was switched off by anybody: `before` is what is in force. */
export interface Disarming {
  readonly before: Config;
  readonly after: Config;
  readonly removed: readonly { readonly account: string; readonly mailboxes: number }[];
  /** Who reloaded, and when. */
  readonly by: string;
  readonly at: EpochMs;
}

/** As the rule has it, or at once, because nobody could be notified later. */
type When = 'tuned' | 'now';

/** Rejects when the store can't be written. */
export async function recordDisarming(rooms: RecorderRooms, disarming: Disarming, when: When = 'tuned'): Promise<void> {
  const { fleet, world } = rooms;
  const { before, after, removed, by, at } = disarming;
  const { rules } = after.alerts;
  const words = { command: world.command, zone: rules.timeZone };
  const off = new Map(scopesOff(after).map((scope) => [fingerprintOf(enforcementSubject(scope)), scope]));
  const was = new Set(scopesOff(before).map((scope) => fingerprintOf(enforcementSubject(scope))));
  const begun = [...off].filter(([fingerprint]) => !was.has(fingerprint));
  const ended = [...fleet.alerts()].filter((alert) => isEnforcementAlert(alert) && !off.has(alert.fingerprint));
  const conditions = [
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
  await record(rooms, conditions, { rules, when });
}

/** Before the channels go, so that they get it. `gone`: their names. Rejects when the store can't be written. */
export async function recordChannelsGone(
  rooms: RecorderRooms,
  gone: readonly string[],
  { after, by, at, file }: Omit<Disarming, 'before' | 'removed'> & { readonly file: string },
): Promise<void> {
  const words = { command: rooms.world.command, zone: after.alerts.rules.timeZone };
  const { rules } = after.alerts;
  await record(rooms, [channelsRemoved({ channels: gone, file, by, at }, words)], { rules, when: 'now' });
}

async function record(
  { fleet, store, world, onTransitions: recorded }: RecorderRooms,
  conditions: readonly Condition[],
  { rules, when }: { readonly rules: RuleSettings; readonly when: When },
) {
  const tuned = tune(conditions, rules);
  const due = when === 'now' ? tuned.map((condition) => ({ ...condition, ...atOnce })) : tuned;
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
