// Looks at the replicas of the store: shows them, and notifies people when their configurations differ or one was refused.

import { tune } from '../alert/condition.ts';
import { step } from '../alert/engine.ts';
import { configReloadFailed } from '../alert/rules/reload-rule.ts';
import { configDisagrees, replicaMissing } from '../alert/rules/replicas-rule.ts';
import type { ReplicaState } from '../model/replica.ts';
import type { RuleSettings } from '../model/rule-settings.ts';
import { secondMs } from '../model/time.ts';
import { recordAlerts } from '../notify/outbox-store.ts';
import type { RecorderRooms } from '../record/guarded-account.ts';
import { accountOf, type Membership, type Replica, type Scope } from '../replicas/membership.ts';

/** A replica beats every three seconds, and is dead after fifteen. */
const silentAfterMs = 8 * secondMs;

export interface ReplicaWatchParts {
  readonly membership: Membership;
  readonly rules: () => RuleSettings;
  readonly rooms: Pick<RecorderRooms, 'fleet' | 'store' | 'world' | 'onTransitions'>;
}

export class ReplicaWatch {
  readonly #parts: ReplicaWatchParts;

  constructor(parts: ReplicaWatchParts) {
    this.#parts = parts;
  }

  /** Rejects when the store can't be written. */
  async look(): Promise<void> {
    const { membership, rules, rooms } = this.#parts;
    const { fleet, store, world, onTransitions: recorded } = rooms;
    const replicas = membership.replicas().map((replica) => stateOf(replica, membership.self));
    const missing = membership.missing();
    fleet.putReplicas(replicas, missing);
    if (!membership.holds('notify')) return;
    const refused = replicas.flatMap(({ name, reloadFailure }) =>
      reloadFailure === null ? [] : [`${name}: ${reloadFailure}`],
    );
    const about = { living: replicas.length, timeZone: rules().timeZone };
    const conditions = tune(
      [replicaMissing(missing, about), configDisagrees(replicas, missing), configReloadFailed(refused, world.command)],
      rules(),
    );
    const alerts = step(conditions, (fingerprint) => fleet.alert(fingerprint), world.clock.now());
    await recordAlerts({ fleet, store, recorded }, alerts);
  }
}

function stateOf(replica: Replica, self: string | null): ReplicaState {
  const { id, name, version, startedAt, silentMs, scopes, wants, configDigest, reloadFailure } = replica;
  return {
    ...{ id, name, version, startedAt, configDigest, reloadFailure },
    silent: silentMs > silentAfterMs,
    accounts: accountsIn(scopes),
    configured: accountsIn(wants),
    notifies: scopes.includes('notify'),
    isSelf: id === self,
  };
}

function accountsIn(scopes: readonly Scope[]): readonly string[] {
  return scopes.map(accountOf).filter((account) => account !== null);
}
