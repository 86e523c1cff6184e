// Transitions of an action: every change of its state is one of these. Pure.
import type {
  Action,
  Before,
  ConfirmedAction,
  DroppedAction,
  FailedAction,
  OpenAction,
  PlannedAction,
} from './action.ts';
import { type EpochMs, hourMs, minuteMs } from './time.ts';

/** Waits before the second to fifth try of an action that could not be confirmed. */
const retryAfterMs: readonly number[] = [1, 5, 15, 60].map((minutes) => minutes * minuteMs);
/** A refusal (a key without write permission, say) is tried again hourly while the breach stands. */
const retryRefusedAfterMs = hourMs;
/** Wait after a 429 without a Retry-After. */
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
  /** refused: with 403. */
  readonly forbidden?: boolean;
}

/** The intent to POST is recorded, after the look that saw `before`. */
type Opened = { readonly kind: 'opened'; readonly before: Before };
/** An answer showed the change. */
type Confirmed = { readonly kind: 'confirmed'; readonly detail: string };
/** Event that ends an action before it is sent (again). */
type Dropped = { readonly kind: 'dropped'; readonly detail: string };

/** Event in the life of an action, and its moment. */
export type ActionEvent = (Opened | Confirmed | Dropped | Unsuccessful) & { readonly at: EpochMs };
type Event<Kind> = Kind & { readonly at: EpochMs };

/** The action after the event. Throws where the event can't happen in its state: that is a mistake of ours. */
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

/** Takes a try back that led to nothing: the action is due again at `nextTryAt`. */
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

/**
 * Milliseconds until the next try of an action. A wait beyond the longest one began before the clock was set back, and
 * is over.
 */
export function tryWaitMs({ nextTryAt }: Pick<Action, 'nextTryAt'>, now: EpochMs): number {
  const wait = (nextTryAt ?? now) - now;
  return wait > longestRetryMs ? 0 : Math.max(0, wait);
}

/** Moment of the next try after `attempts` unconfirmed ones, or null after the last. */
export function nextTryAfterUnconfirmed(attempts: number, now: EpochMs): EpochMs | null {
  const wait = retryAfterMs[attempts - 1];
  return wait === undefined ? null : now + wait;
}
