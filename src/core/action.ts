// A change at the mailbox API that the guard or a person wants, from the plan to its outcome.
import type { WarmupMode } from './policy.ts';
import type { EpochMs } from './time.ts';
import type { RunState, Verdict } from './verdict.ts';

/** Actions of the guard itself. `restore` leads back from recovery to the mode before. */
export const guardActionKinds = ['recovery', 'pause', 'restore'] as const;
export type GuardActionKind = (typeof guardActionKinds)[number];

export function isGuardActionKind(kind: string): kind is GuardActionKind {
  return guardActionKinds.some((one) => one === kind);
}

/** resume, mode (another warm-up mode) and limit (another target daily limit) are a person's alone. */
export type ActionKind = GuardActionKind | 'resume' | 'mode' | 'limit';

/** The outcomes that an action that was sent can have; also the metric's label. */
export const outcomes = ['confirmed', 'refused', 'unconfirmed'] as const;
export type Outcome = (typeof outcomes)[number];

/** State of the mailbox in the look before the POST. */
export interface Before {
  readonly mode: string | null;
  readonly status: string | null;
  readonly run: RunState;
  /** The target daily limit, emails a day; absent in what earlier versions stored. */
  readonly targetLimit?: number | null;
}

/** A person who asked for a change, and why. */
export interface Person {
  readonly name: string;
  readonly reason: string;
}

/** Fields of an action in every state. */
interface ActionFields {
  /** Unique for ever; sorts by time. */
  readonly id: string;
  readonly account: string;
  readonly mailboxId: string;
  readonly email: string;
  readonly kind: ActionKind;
  /** Person who asked for the action through Warmwarden, or null if the guard did. */
  readonly by: Person | null;
  /** The mode that it sets; null where it sets none. */
  readonly targetMode: WarmupMode | null;
  /** The target daily limit that it sets, emails a day; only a `limit` has one. */
  readonly targetLimit?: number;
  readonly verdict: Verdict;
  readonly before: Before;
  /** POSTs sent or about to be sent. All tries are one intervention. */
  readonly attempts: number;
  readonly plannedAt: EpochMs;
  /** Sentence about the API's answer. */
  readonly detail: string | null;
  /** True if the API answered the last try with 403, which may be about the key or about this mailbox. */
  readonly forbidden?: boolean;
  /** Sentences about possible causes of the bounces. */
  readonly causes: readonly string[];
  /** The action of ours that a person takes back with it: it is sent only while our claim on that one stands. */
  readonly undoes?: string;
  /** The target daily limit that a person takes back with it: it is sent only while the mailbox has that one. */
  readonly undoesLimit?: number;
  /** The guard's own action whose place a person's takes, as it was: it comes back unless the person's change is read back. */
  readonly displaced?: PendingAction;
}

/** Wanted, and nothing was sent. */
export interface PlannedAction extends ActionFields {
  readonly state: 'planned';
  readonly attempts: 0;
  /** Moment at which an intent was recorded that did not get through. */
  readonly openedAt: EpochMs | null;
  readonly settledAt: null;
  readonly nextTryAt: EpochMs | null;
}

/** The intent is recorded; a POST may be under way. */
export interface OpenAction extends ActionFields {
  readonly state: 'open';
  readonly openedAt: EpochMs;
  /** Moment at which the outcome of the previous try was known. */
  readonly settledAt: EpochMs | null;
  readonly nextTryAt: null;
}

/** Read back. */
export interface ConfirmedAction extends ActionFields {
  readonly state: 'confirmed';
  readonly openedAt: EpochMs;
  readonly settledAt: EpochMs;
  readonly nextTryAt: null;
}

/** refused: the API said no. unconfirmed: the change is not (yet) to be seen. */
export interface FailedAction extends ActionFields {
  readonly state: 'refused' | 'unconfirmed';
  readonly openedAt: EpochMs;
  readonly settledAt: EpochMs;
  /** Moment of the next try, or null if there is none. */
  readonly nextTryAt: EpochMs | null;
}

/** Given up before a POST, the first or a further one: the mailbox had changed, or the verdict no longer stood. */
export interface DroppedAction extends ActionFields {
  readonly state: 'dropped';
  readonly openedAt: EpochMs | null;
  readonly settledAt: EpochMs;
  readonly nextTryAt: null;
}

/** A change at the mailbox API, the guard's or a person's. `actionAfter` alone brings it from one state into another. */
export type Action = PlannedAction | OpenAction | ConfirmedAction | FailedAction | DroppedAction;
export type ActionState = Action['state'];
/** Action that may be sent (again): none of its requests is in progress. */
export type PendingAction = PlannedAction | FailedAction;

/** The `detail` of an action that is dropped because the mailbox already was as it was to be. */
export const alreadySo = 'no change needed';

/** True if nothing was sent because the mailbox already had the wanted state. */
export function neededNoChange({ state, detail }: Action): boolean {
  return state === 'dropped' && detail === alreadySo;
}

/** The action once its mailbox is guarded under another account. */
export function actionUnder<Any extends Action>(action: Any, account: string): Any {
  const { displaced } = action;
  return { ...action, account, ...(displaced && { displaced: { ...displaced, account } }) };
}
