// A change at the mailbox API that the guard or a person wants, from the plan to its outcome.
import type { WarmupMode } from './policy.ts';
import { type EpochMs, hourMs, minuteMs } from './time.ts';
import type { RunState, Verdict } from './verdict.ts';

/** Actions of the guard itself. `restore` leads back from recovery to the mode before. */
export const guardActionKinds = ['recovery', 'pause', 'restore'] as const;
export type GuardActionKind = (typeof guardActionKinds)[number];

export function isGuardActionKind(kind: string): kind is GuardActionKind {
  return guardActionKinds.some((one) => one === kind);
}

/** resume, mode (another warm-up mode) and limit (another target daily limit) are a person's alone. */
export type ActionKind = GuardActionKind | 'resume' | 'mode' | 'limit';

export const outcomes = ['confirmed', 'refused', 'unconfirmed'] as const;
export type Outcome = (typeof outcomes)[number];

export interface Before {
  readonly mode: string | null;
  readonly status: string | null;
  readonly run: RunState;
  /** The target daily limit, emails a day; absent in what earlier versions stored. */
  readonly targetLimit?: number | null;
}

export interface Person {
  readonly name: string;
  readonly reason: string;
}

interface ActionFields {
  /** Unique for ever; sorts by time. */
  readonly id: string;
  readonly account: string;
  readonly mailboxId: string;
  readonly email: string;
  readonly kind: ActionKind;
  /** Person who asked for the action through Warmwarden, or null if the guard did. */
  readonly by: Person | null;
  readonly targetMode: WarmupMode | null;
  readonly targetLimit?: number;
  readonly verdict: Verdict;
  readonly before: Before;
  /** POSTs sent or about to be sent. All tries are one intervention. */
  readonly attempts: number;
  readonly plannedAt: EpochMs;
  readonly detail: string | null;
  /** True if the API answered the last try with 403, which may be about the key or about this mailbox. */
  readonly forbidden?: boolean;
  readonly causes: readonly string[];
  /** Our action that a person takes back with this one. This one is sent only while our claim on that one stands. */
  readonly undoes?: string;
  /** The limit that a person takes back. The action is sent only while the mailbox has it. */
  readonly undoesLimit?: number;
  /** The guard's action whose place a person's takes. It comes back unless the person's change is read back. */
  readonly displaced?: PendingAction;
}

export interface PlannedAction extends ActionFields {
  readonly state: 'planned';
  readonly attempts: 0;
  /** Time of a recorded intent that did not get through. */
  readonly openedAt: EpochMs | null;
  readonly settledAt: null;
  readonly nextTryAt: EpochMs | null;
}

/** The intent is recorded; a POST may be under way. */
export interface OpenAction extends ActionFields {
  readonly state: 'open';
  readonly openedAt: EpochMs;
  /** Time of the previous try's outcome. */
  readonly settledAt: EpochMs | null;
  readonly nextTryAt: null;
}

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
  readonly nextTryAt: EpochMs | null;
}

/** Given up before a POST, the first or a further one: the mailbox had changed, or the verdict no longer stood. */
export interface DroppedAction extends ActionFields {
  readonly state: 'dropped';
  readonly openedAt: EpochMs | null;
  readonly settledAt: EpochMs;
  readonly nextTryAt: null;
}

/** A change at the mailbox API by the guard or a person. `actionAfter` alone changes its state. */
export type Action = PlannedAction | OpenAction | ConfirmedAction | FailedAction | DroppedAction;
export type ActionState = Action['state'];
/** Action that may be sent (again): none of its requests is in progress. */
export type PendingAction = PlannedAction | FailedAction;

/** The `detail` of an action that is dropped because the mailbox was already in the wanted state. */
export const alreadySo = 'no change needed';

export function neededNoChange({ state, detail }: Action): boolean {
  return state === 'dropped' && detail === alreadySo;
}

export function actionUnder<Any extends Action>(action: Any, account: string): Any {
  const { displaced } = action;
  return { ...action, account, ...(displaced && { displaced: { ...displaced, account } }) };
}

/** Waits before the second to fifth try of an action that could not be confirmed. */
const retryAfterMs: readonly number[] = [1, 5, 15, 60].map((minutes) => minutes * minuteMs);
/** A refusal is tried again hourly while the breach stands. A key without write permission is one cause. */
const retryRefusedAfterMs = hourMs;
const throttledWaitMs = minuteMs;
const longestRetryMs = Math.max(retryRefusedAfterMs, ...retryAfterMs);

/** A try that did not show the change, with what came back in a sentence. */
export interface Unsuccessful {
  /**
   * refused: the API said no. unconfirmed: it said yes or nothing, and the change is not to be seen.
   * unseen: found open after a restart and not to be seen within the deadline; perhaps it was never sent.
   * throttled: the API said 429, and a look showed that nothing was changed. not_sent: the POST was held back.
   * The last two do not count as a try.
   */
  readonly kind: 'refused' | 'unconfirmed' | 'unseen' | 'throttled' | 'not_sent';
  readonly detail: string;
  /** throttled: how long the API wants to be left alone, milliseconds; absent if it did not say. */
  readonly waitMs?: number;
  readonly forbidden?: boolean;
}

type Opened = { readonly kind: 'opened'; readonly before: Before };
type Confirmed = { readonly kind: 'confirmed'; readonly detail: string };
type Dropped = { readonly kind: 'dropped'; readonly detail: string };

export type ActionEvent = (Opened | Confirmed | Dropped | Unsuccessful) & { readonly at: EpochMs };
type Event<Kind> = Kind & { readonly at: EpochMs };

/** Throws where the event can't happen in the action's state: that is a mistake of ours. */
export function actionAfter(action: Action, event: Event<Opened>): OpenAction;
export function actionAfter(action: Action, event: ActionEvent): Action;
export function actionAfter(action: Action, event: ActionEvent): Action {
  switch (action.state) {
    case 'planned':
    case 'refused':
      if (event.kind === 'opened') return opened(action, event);
      if (event.kind === 'dropped') return dropped(action, event);
      break;
    case 'open':
      if (event.kind === 'confirmed') return confirmed(action, event);
      if (event.kind !== 'opened' && event.kind !== 'dropped') return unsuccessful(action, event);
      break;
    case 'unconfirmed':
      if (event.kind === 'opened') return opened(action, event);
      if (event.kind === 'dropped') return dropped(action, event);
      if (event.kind === 'confirmed') return confirmed(action, event);
      break;
    case 'dropped':
      // A POST that was sent before may show only now; one that never was can't.
      if (event.kind === 'confirmed' && action.openedAt !== null)
        return confirmed({ ...action, openedAt: action.openedAt }, event);
      break;
    case 'confirmed':
      break;
  }
  throw new Error(`action ${action.id}: nothing leads from ${action.state} by ${event.kind}`);
}

function opened(action: PlannedAction | FailedAction, { before, at }: Event<Opened>): OpenAction {
  const attempts = action.attempts + 1;
  const anew = action.forbidden ? { ...action, forbidden: false } : action;
  return { ...anew, state: 'open', before, openedAt: at, nextTryAt: null, attempts };
}

function dropped(action: PlannedAction | FailedAction, { detail, at }: Event<Dropped>): DroppedAction {
  return { ...action, state: 'dropped', settledAt: at, nextTryAt: null, detail };
}

function confirmed<Sent extends Action & { readonly openedAt: EpochMs }>(
  action: Sent,
  { detail, at }: Event<Confirmed>,
): ConfirmedAction {
  return { ...action, state: 'confirmed', settledAt: at, nextTryAt: null, detail };
}

function unsuccessful(
  open: OpenAction,
  { kind, detail, forbidden, waitMs = throttledWaitMs, at }: Event<Unsuccessful>,
): PlannedAction | FailedAction {
  if (kind === 'throttled') return withoutTheTry(open, { detail, at, nextTryAt: at + waitMs });
  if (kind === 'not_sent') return withoutTheTry(open, { detail, at, nextTryAt: at });
  const state = kind === 'refused' ? 'refused' : 'unconfirmed';
  // The person knows what came of it; nothing is sent again behind their back.
  const nextTryAt = open.by ? null : nextTryAfter(kind, open.attempts, at);
  return { ...open, state, settledAt: at, nextTryAt, detail, ...(forbidden && { forbidden }) };
}

function withoutTheTry(
  open: OpenAction,
  { detail, at, nextTryAt }: { readonly detail: string; readonly at: EpochMs; readonly nextTryAt: EpochMs },
): PlannedAction | FailedAction {
  const attempts = open.attempts - 1;
  if (attempts === 0) return { ...open, state: 'planned', attempts, settledAt: null, nextTryAt, detail };
  return { ...open, state: 'unconfirmed', attempts, settledAt: open.settledAt ?? at, nextTryAt, detail };
}

function nextTryAfter(kind: 'refused' | 'unconfirmed' | 'unseen', attempts: number, now: EpochMs): EpochMs | null {
  if (kind === 'refused') return now + retryRefusedAfterMs;
  // The first one may go out at once; later ones keep to the waits, so that a crash loop is no loop of POSTs.
  return kind === 'unseen' && attempts === 1 ? now : nextTryAfterUnconfirmed(attempts, now);
}

/** A wait beyond the longest one began before the clock was set back, and is over. */
export function tryWaitMs({ nextTryAt }: Pick<Action, 'nextTryAt'>, now: EpochMs): number {
  const wait = (nextTryAt ?? now) - now;
  return wait > longestRetryMs ? 0 : Math.max(0, wait);
}

/** Moment of the next try after `attempts` unconfirmed ones, or null after the last. */
export function nextTryAfterUnconfirmed(attempts: number, now: EpochMs): EpochMs | null {
  const wait = retryAfterMs[attempts - 1];
  return wait === undefined ? null : now + wait;
}
