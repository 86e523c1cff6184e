// Looks at the replicas of the store: shows them, and notifies people when their configurations differ or one was refused.

import type { RecorderRooms } from '../../account/record/guarded-account.ts';
import { tune } from '../../alerts/condition.ts';
import { step } from '../../alerts/engine.ts';
import { configReloadFailed } from '../../alerts/rules/reload-rule.ts';
import { configDisagrees, replicaMissing } from '../../alerts/rules/replicas-rule.ts';
import type { ReplicaState } from '../../core/replica.ts';
import type { RuleSettings } from '../../core/rule-settings.ts';
import { secondMs } from '../../core/time.ts';
import { recordAlerts } from '../../outbox/outbox-store.ts';
import { accountOf, type Membership, type Replica, type Scope } from '../../store/replicas/membership.ts';

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
