// A change at the mailbox API that the guard or a person wants, from the plan to its outcome.
import type { WarmupMode } from './policy.ts';
import type { EpochMs } from './time.ts';
import type { RunState, Verdict } from './verdict.ts';

/** What the guard does by itself. restore: back from recovery to the mode before. */
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

/** What the look before the POST saw. */
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

/** What every action has, in whatever state it is. */
interface Change {
  /** Unique for ever; sorts by time. */
  readonly id: string;
  readonly account: string;
  readonly mailboxId: string;
  readonly email: string;
  readonly kind: ActionKind;
  /** Who asked for it through Warmwarden; null when the guard did. */
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
  /** What came back, in a sentence. */
  readonly detail: string | null;
  /** Whether the API answered the last try with 403, which may be about the key or about this mailbox. Absent: it did not. */
  readonly forbidden?: boolean;
  /** What may explain the bounces that it is about, in sentences. */
  readonly causes: readonly string[];
  /** The action of ours that a person takes back with it: it is sent only while our claim on that one stands. */
  readonly undoes?: string;
  /** The target daily limit that a person takes back with it: it is sent only while the mailbox has that one. */
  readonly undoesLimit?: number;
  /** The guard's own action whose place a person's takes, as it was: it comes back unless the person's change is read back. */
  readonly displaced?: PendingAction;
}

/** Wanted, and nothing was sent. */
export interface PlannedAction extends Change {
  readonly state: 'planned';
  readonly attempts: 0;
  /** When an intent was recorded that did not get through. */
  readonly openedAt: EpochMs | null;
  readonly settledAt: null;
  readonly nextTryAt: EpochMs | null;
}

/** The intent is recorded; a POST may be under way. */
export interface OpenAction extends Change {
  readonly state: 'open';
  readonly openedAt: EpochMs;
  /** When the outcome of the try before this one was known. */
  readonly settledAt: EpochMs | null;
  readonly nextTryAt: null;
}

/** Read back. */
export interface ConfirmedAction extends Change {
  readonly state: 'confirmed';
  readonly openedAt: EpochMs;
  readonly settledAt: EpochMs;
  readonly nextTryAt: null;
}

/** refused: the API said no. unconfirmed: the change is not (yet) to be seen. */
export interface FailedAction extends Change {
  readonly state: 'refused' | 'unconfirmed';
  readonly openedAt: EpochMs;
  readonly settledAt: EpochMs;
  /** When the next try is due; null when there is none. */
  readonly nextTryAt: EpochMs | null;
}

/** Given up before a POST, the first or a further one: the mailbox had changed, or the verdict no longer stood. */
export interface DroppedAction extends Change {
  readonly state: 'dropped';
  readonly openedAt: EpochMs | null;
  readonly settledAt: EpochMs;
  readonly nextTryAt: null;
}

/** A change at the mailbox API, the guard's or a person's. `actionAfter` alone brings it from one state into another. */
export type Action = PlannedAction | OpenAction | ConfirmedAction | FailedAction | DroppedAction;
export type ActionState = Action['state'];
/** Nothing is under way, and it may be sent (again). */
export type PendingAction = PlannedAction | FailedAction;

/** The `detail` of an action that is dropped because the mailbox already was as it was to be. */
export const alreadySo = 'no change needed';

/** Whether nothing was sent because the mailbox already was as it was to be. */
export function neededNoChange({ state, detail }: Action): boolean {
  return state === 'dropped' && detail === alreadySo;
}

/** The action once its mailbox is guarded under another account. */
export function actionUnder<Any extends Action>(action: Any, account: string): Any {
  const { displaced } = action;
  return { ...action, account, ...(displaced && { displaced: { ...displaced, account } }) };
}
