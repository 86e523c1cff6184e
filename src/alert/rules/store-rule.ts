// store_failing: what is decided can't be recorded, so it is not acted on until it can.
import {
  type Alert,
  type AlertChanges,
  type AlertFacts,
  fingerprintOf,
  noAccount,
  type Subject,
  type Transition,
} from '../../model/alert.ts';
import { endTitleOf, type NewStore, newStoreText, type StoreFailure, titleOf } from '../../model/store-failure.ts';
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

export const storeFingerprint = fingerprintOf(storeSubject);

/**
 * `failure`: what is wrong with the store; null when nothing is. `before`: what the messages said is wrong. `newStore`: the one that
 * works now, where it is not the one that failed.
 */
export function storeFailing(
  failure: StoreFailure | null,
  before: AlertFacts | null,
  newStore: NewStore | null = null,
): Condition {
  return {
    subject: storeSubject,
    severity: 'critical',
    active: failure !== null,
    ...atOnce,
    facts: failure === null ? factsOfEnd(before, newStore) : factsOf(failure),
  };
}

function factsOf(failure: StoreFailure): AlertFacts {
  const meanwhile =
    failure.title === undefined
      ? 'Warmwarden takes no action that it cannot record. It may be unable to send other alerts until the store works again.'
      : 'Until then, Warmwarden does not do the work that no other replica has: some accounts are not guarded, or other alerts are not sent.';
  return { title: titleOf(failure), sentences: [sentence(failure.said), meanwhile, failure.remedy], numbers: {} };
}

function factsOfEnd(before: AlertFacts | null, newStore: NewStore | null): AlertFacts {
  const works = 'Warmwarden guards, records its decisions and acts on them again.';
  const sentences = newStore === null ? [works] : [works, newStoreText(newStore)];
  return { title: endTitleOf(before?.title ?? ''), sentences, numbers: {} };
}

/** The alert fires for another reason than the messages said, and one that calls for a person. */
export function worsened(alert: Alert, failure: StoreFailure, at: EpochMs): Transition {
  return { kind: 'worsened', at, alert: { ...alert, facts: factsOf(failure) } };
}

/** The end of a failure together with its beginning, which could not be recorded when it came. */
export function withBeginning(end: AlertChanges, begunAt: EpochMs): AlertChanges {
  const beginnings = end.transitions.map((transition) => ({ ...transition, kind: 'firing' as const, at: begunAt }));
  return { ...end, transitions: [...beginnings, ...end.transitions] };
}
