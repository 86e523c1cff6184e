// config_disagrees: replicas of one store have different configurations, or guard different fleets. replica_missing: one ended without
// a normal stop, and none has joined in its place.
import { noAccount } from '../../core/alert.ts';
import type { MissingReplica, ReplicaState } from '../../core/replica.ts';
import { defaultRuleSettings } from '../../core/rule-settings.ts';
import { counted } from '../../core/wording/phrases.ts';
import { disagreeing, disagreementText, missingText } from '../../core/wording/replicas.ts';
import { accountSubject, type Condition } from '../condition.ts';

export function replicaMissing(
  missing: readonly MissingReplica[],
  { living, timeZone }: { readonly living: number; readonly timeZone: string },
): Condition {
  const { severity, forMs } = defaultRuleSettings.of.replica_missing;
  const [first] = missing;
  return {
    subject: accountSubject('replica_missing', noAccount),
    severity,
    active: first !== undefined,
    forMs,
    observations: 1,
    clearObservations: 1,
    ...(first && { since: first.beatAt }),
    facts: {
      title: first ? `${counted(missing.length, 'replica')} ended without a normal stop` : 'no replica is missing',
      sentences: first
        ? [
            missingText(missing, timeZone),
            `${counted(living, 'replica')} ${living === 1 ? 'guards' : 'guard'} the accounts now.`,
            'Look at the log and the machine of the replica that ended, then start it again.',
          ]
        : [],
      numbers: { missing: missing.length, replicas: living },
    },
  };
}

/** What those that are missing had nobody knows: while there are some, a difference is not over. */
export function configDisagrees(replicas: readonly ReplicaState[], missing: readonly MissingReplica[]): Condition {
  const differing = disagreeing(replicas);
  const { severity, forMs } = defaultRuleSettings.of.config_disagrees;
  return {
    subject: accountSubject('config_disagrees', noAccount),
    severity,
    active: differing.length > 0 || (missing.length > 0 ? 'unknown' : false),
    forMs,
    observations: 1,
    clearObservations: 1,
    facts: {
      title:
        differing.length > 0
          ? `${counted(differing.length, 'replica')} have different configurations`
          : 'all replicas have the same configuration',
      sentences:
        differing.length > 0
          ? [
              disagreementText(differing),
              'Until then, each replica guards its accounts by its own configuration, and the replica that sends the messages uses its own channels.',
            ]
          : [],
      numbers: { replicas: replicas.length },
    },
  };
}
