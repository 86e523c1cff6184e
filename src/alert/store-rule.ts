// store_failing: what is decided can't be recorded, so nothing is done or told until it can.
import { type AlertChanges, noAccount, type Subject } from '../model/alert.ts';
import type { EpochMs } from '../model/time.ts';
import { sentence } from '../wording/explain.ts';
import type { Condition } from './condition.ts';

export const storeSubject: Subject = {
  rule: 'store_failing',
  account: noAccount,
  mailboxId: null,
  email: null,
  object: null,
};

/** `failure`: what the last write said; null when it succeeded. */
export function storeFailing(failure: string | null): Condition {
  return {
    subject: storeSubject,
    severity: 'critical',
    active: failure !== null,
    forMs: 0,
    observations: 1,
    clearObservations: 1,
    facts: {
      title: failure === null ? 'the store can be written again' : 'the store can NOT be written',
      sentences:
        failure === null
          ? ['What the guard decides is recorded and done again.']
          : [
              sentence(failure),
              'Nothing is done and no other message goes out until it can be written again: what is not recorded is not acted on.',
              'Free disk space, or look at the folder of store.url and its rights. The log has the cause.',
            ],
      numbers: {},
    },
  };
}

/** The end of a failure together with its beginning, which could not be recorded when it came. */
export function withBeginning(end: AlertChanges, begunAt: EpochMs): AlertChanges {
  const beginnings = end.transitions.map((transition) => ({ ...transition, kind: 'firing' as const, at: begunAt }));
  return { ...end, transitions: [...beginnings, ...end.transitions] };
}
