// store_failing: what is decided can't be recorded, so it is not acted on until it can.
import { type AlertChanges, noAccount, type Subject } from '../../model/alert.ts';
import { type StoreFailure, titleOf } from '../../model/store-failure.ts';
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
      title: failure === null ? 'the store works again' : titleOf(failure),
      sentences:
        failure === null
          ? ['Warmwarden guards, records its decisions and acts on them again.']
          : [
              sentence(failure.said),
              failure.title === undefined
                ? 'Warmwarden takes no action that it cannot record. It may be unable to send other alerts until the store works again.'
                : 'Until then, Warmwarden does not do the work that no other replica has: some accounts are not guarded, or other alerts are not sent.',
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
