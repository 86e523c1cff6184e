// store_failing: what is decided can't be recorded, so it is not acted on until it can.
import { type AlertChanges, noAccount, type Subject } from '../../model/alert.ts';
import type { StoreFailure } from '../../model/store-failure.ts';
import type { EpochMs } from '../../model/time.ts';
import { sentence } from '../../wording/explain.ts';
import { atOnce, type Condition } from '../condition.ts';

const storeSubject: Subject = {
  rule: 'store_failing',
  account: noAccount,
  mailboxId: null,
  email: null,
  object: null,
};

/** `failure`: what is wrong with the store; null when nothing is. */
export function storeFailing(failure: StoreFailure | null): Condition {
  return {
    subject: storeSubject,
    severity: 'critical',
    active: failure !== null,
    ...atOnce,
    facts: {
      title: failure === null ? 'the store works again' : 'the store is failing',
      sentences:
        failure === null
          ? ['Warmwarden records its decisions again and acts on them.']
          : [
              sentence(failure.said),
              'Warmwarden takes no action that it cannot record. It may be unable to send other alerts until the store works again.',
              failure.remedy,
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
