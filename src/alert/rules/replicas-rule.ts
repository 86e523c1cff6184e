// config_disagrees: replicas of one store have different configurations, or guard different fleets.
import { noAccount } from '../../model/alert.ts';
import type { ReplicaState } from '../../model/replica.ts';
import { defaultRuleSettings } from '../../model/rule-settings.ts';
import { counted } from '../../wording/phrases.ts';
import { disagreeing, disagreementText } from '../../wording/replicas.ts';
import { accountSubject, type Condition } from '../condition.ts';

export function configDisagrees(replicas: readonly ReplicaState[]): Condition {
  const differing = disagreeing(replicas);
  const { severity, forMs } = defaultRuleSettings.of.config_disagrees;
  return {
    subject: accountSubject('config_disagrees', noAccount),
    severity,
    active: differing.length > 0,
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
