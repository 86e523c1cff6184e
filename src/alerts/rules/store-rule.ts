// store_failing: decisions cannot be recorded, so Warmwarden does not act on them until they can.
import {
  type Alert,
  type AlertChanges,
  type AlertFacts,
  fingerprintOf,
  noAccount,
  type Subject,
  type Transition,
} from '../../core/alert.ts';
import { type Loss, lossText, type StoreFailure, storeTitle } from '../../core/store-failure.ts';
import type { EpochMs } from '../../core/time.ts';
import { sentence } from '../../core/wording/explain.ts';
import { atOnce, type Condition } from '../condition.ts';

const storeSubject: Subject = {
  rule: 'store_failing',
  account: noAccount,
  mailboxId: null,
  email: null,
  object: null,
};

export const storeFingerprint = fingerprintOf(storeSubject);

/** Returns the condition. `failure` is null if the store works; `loss` is what the working store lacked. */
export function storeFailing(failure: StoreFailure | null, loss: Loss | null = null): Condition {
  return {
    subject: storeSubject,
    severity: 'critical',
    active: failure !== null,
    ...atOnce,
    facts: failure === null ? factsOfEnd(loss) : factsOf(failure),
  };
}

function factsOf(failure: StoreFailure): AlertFacts {
  const meanwhile =
    'Warmwarden takes no action that it cannot record. It may be unable to send other alerts until the store works again.';
  return { title: storeTitle, sentences: [sentence(failure.said), meanwhile, failure.remedy], numbers: {} };
}

function factsOfEnd(loss: Loss | null): AlertFacts {
  const works =
    (loss?.stops ?? 0) === 0
      ? 'Warmwarden guards, records its decisions and acts on them again.'
      : 'Warmwarden guards and records its decisions again. It does not act where an emergency stop is in force.';
  const sentences = loss === null ? [works] : [works, lossText(loss)];
  return { title: 'the store works again', sentences, numbers: {} };
}

/** Returns the transition for an alert that fires for another reason than announced, one that needs a person. */
export function worsened(alert: Alert, failure: StoreFailure, at: EpochMs): Transition {
  return { kind: 'worsened', at, alert: { ...alert, facts: factsOf(failure) } };
}

/** Returns the end of a failure together with its beginning, which could not be recorded at the time. */
export function withBeginning(end: AlertChanges, begunAt: EpochMs): AlertChanges {
  const beginnings = end.transitions.map((transition) => ({ ...transition, kind: 'firing' as const, at: begunAt }));
  return { ...end, transitions: [...beginnings, ...end.transitions] };
}
