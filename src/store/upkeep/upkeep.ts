// What keeps the store small: duties in small steps, each a transaction of its own, so that nothing waits for them.
import { auditRetentionMs, type Retention } from '../../core/store-failure.ts';
import type { EpochMs } from '../../core/time.ts';
import type { Gate } from '../gate.ts';
import { oldActions, oldCommands } from './audit.ts';
import { oldDeparted, oldObservations } from './departed.ts';
import {
  expiredSilences,
  oldChanges,
  oldDecisions,
  oldIncidents,
  oldTransitions,
  replacedDeliveries,
  sentDeliveries,
  undeliverableDeliveries,
} from './history.ts';
import type { Cursor, Walk } from './step.ts';

export interface UpkeepPlan {
  readonly now: EpochMs;
  readonly retention: Retention;
  /** The names of those that are configured. */
  readonly channels: readonly string[];
}

export interface UpkeepDuty {
  /** What it clears, for the log. */
  readonly what: string;
  /** One small step; false when nothing is left to do. */
  step(): Promise<boolean>;
}

export class StoredUpkeep {
  readonly #gate: Gate;

  constructor(gate: Gate) {
    this.#gate = gate;
  }

  /** All that is to be done now, in this order. What an open claim or intent, an undelivered message or an alert needs stays. */
  duties({ now, retention, channels }: UpkeepPlan): readonly UpkeepDuty[] {
    const sentBefore = now - retention.deliveriesMs;
    const auditBefore = now - auditRetentionMs(retention);
    const walks = [
      oldDecisions(now - retention.decisionsMs),
      oldChanges(now - retention.changesMs),
      oldTransitions(sentBefore),
      sentDeliveries(sentBefore),
      replacedDeliveries(sentBefore),
      undeliverableDeliveries(sentBefore, channels),
      expiredSilences(now),
      oldObservations(now - retention.observationsMs),
      oldDeparted(now - retention.departedMs),
      oldActions(auditBefore),
      oldCommands(auditBefore),
      oldIncidents(auditBefore),
    ];
    return [...walks.map((walk) => this.#walking(walk)), { what: 'free space', step: () => this.#gate.freeSpace() }];
  }

  #walking({ what, first, step }: Walk): UpkeepDuty {
    let cursor: Cursor = first;
    return {
      what,
      step: async () => {
        const reached = await this.#gate.write((trx) => step(trx, cursor));
        cursor = reached ?? first;
        return reached !== null;
      },
    };
  }
}
