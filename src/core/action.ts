// A change at the API that the guard or a person wants, from the plan to its outcome.
import type { WarmupMode } from './policy.ts';
import { type EpochMs, hourMs, minuteMs, throttledWaitMs } from './time.ts';
import type { RunState, Verdict } from './verdict.ts';

/** Actions of the guard itself. `restore` leads back from recovery to the mode before. */
export const guardActionKinds = ['recovery', 'pause', 'restore'] as const;
export type GuardActionKind = (typeof guardActionKinds)[number];

export function isGuardActionKind(kind: string): kind is GuardActionKind {
  return guardActionKinds.some((one) => one === kind);
}

/**
 * resume, mode (another warm-up mode), limit (another target daily limit) and set (other settings) are a person's alone.
 */
export type ActionKind = GuardActionKind | 'resume' | 'mode' | 'limit' | 'set';

/** True if the change alters nothing that the guard judges or claims. */
export function leavesGuardAlone(kind: ActionKind): boolean {
  return kind === 'limit' || kind === 'set';
}

/** Settings of a warm-up that `set` changes, percent and hours of the day. */
export interface WarmupSettings {
  readonly replyRate?: number;
  readonly sendWindowStart?: number;
  readonly sendWindowEnd?: number;
}

/** True if the warm-up has every one of the settings. */
export function hasSettings(
  config: { readonly [Key in keyof WarmupSettings]: number | null },
  wanted: WarmupSettings,
): boolean {
  return Object.entries(wanted).every(([key, value]) => config[key as keyof WarmupSettings] === value);
}

/** Settings as `set` takes them: `reply_rate=30 send_window=8-18`. An unknown number is a question mark. */
export function settingsText({
  replyRate,
  sendWindowStart,
  sendWindowEnd,
}: { readonly [Key in keyof WarmupSettings]: number | null }): string {
  const said = (name: string, value?: number | null) => (value === undefined ? [] : [`${name}=${value ?? '?'}`]);
  const hasBoth = sendWindowStart !== undefined && sendWindowEnd !== undefined;
  const window = hasBoth
    ? [`send_window=${sendWindowStart ?? '?'}-${sendWindowEnd ?? '?'}`]
    : [...said('send_window_start', sendWindowStart), ...said('send_window_end', sendWindowEnd)];
  return [...said('reply_rate', replyRate), ...window].join(' ');
}

export const outcomes = ['confirmed', 'refused', 'unconfirmed'] as const;
export type Outcome = (typeof outcomes)[number];

export interface Before {
  readonly mode: string | null;
  readonly status: string | null;
  readonly run: RunState;
  /** The target daily limit, emails a day. */
  readonly targetLimit?: number | null;
  readonly settings?: { readonly [Key in keyof WarmupSettings]: number | null };
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
  readonly targetSettings?: WarmupSettings;
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
  /** The settings that a person takes back. The action is sent only while the mailbox has them. */
  readonly undoesSettings?: WarmupSettings;
  /** The guard's action whose place a person's takes. It comes back unless the person's change is read back. */
  readonly displaced?: PendingAction;
}

interface ActionIn<State, OpenedAt, SettledAt, NextTryAt> extends ActionFields {
  readonly state: State;
  readonly openedAt: OpenedAt;
  readonly settledAt: SettledAt;
  readonly nextTryAt: NextTryAt;
}

/** No POST is under way, and none counts. `openedAt`: time of an intent that did not get through. */
export type PlannedAction = ActionIn<'planned', EpochMs | null, null, EpochMs | null> & { readonly attempts: 0 };
/** The intent is recorded; a POST may be under way. */
export type OpenAction = ActionIn<'open', EpochMs, EpochMs | null, null>;
type ConfirmedAction = ActionIn<'confirmed', EpochMs, EpochMs, null>;
/** refused: the API said no. unconfirmed: the change is not (yet) to be seen. */
export type FailedAction = ActionIn<'refused' | 'unconfirmed', EpochMs, EpochMs, EpochMs | null>;
/** Given up before a POST, the first or a further one: the mailbox had changed, or the verdict no longer stood. */
type DroppedAction = ActionIn<'dropped', EpochMs | null, EpochMs, null>;

/** A change at the API by the guard or a person. `actionAfter` alone changes its state. */
export type Action = PlannedAction | OpenAction | ConfirmedAction | FailedAction | DroppedAction;
export type ActionState = Action['state'];
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
const longestRetryMs = Math.max(retryRefusedAfterMs, ...retryAfterMs);

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

export type ActionEvent = { readonly at: EpochMs } & (
  | { readonly kind: 'opened'; readonly before: Before }
  | { readonly kind: 'confirmed' | 'dropped'; readonly detail: string }
  | Unsuccessful
);

/** Throws where the event can't happen in the action's state: that is a mistake of ours. */
export function actionAfter(action: Action, event: ActionEvent & { readonly kind: 'opened' }): OpenAction;
export function actionAfter(action: Action, event: ActionEvent): Action;
export function actionAfter(action: Action, event: ActionEvent): Action {
  const { at } = event;
  const isPending = action.state === 'planned' || action.state === 'refused' || action.state === 'unconfirmed';
  switch (event.kind) {
    case 'opened': {
      if (!isPending) break;
      const anew = action.forbidden ? { ...action, forbidden: false } : action;
      const { before } = event;
      return { ...anew, state: 'open', before, openedAt: at, nextTryAt: null, attempts: action.attempts + 1 };
    }
    case 'dropped':
      if (!isPending) break;
      return { ...action, state: 'dropped', settledAt: at, nextTryAt: null, detail: event.detail };
    case 'confirmed': {
      // A POST that was sent before its action was dropped may show only now; one that never was can't.
      const { state, openedAt } = action;
      if (openedAt === null || !(state === 'open' || state === 'unconfirmed' || state === 'dropped')) break;
      return { ...action, state: 'confirmed', openedAt, settledAt: at, nextTryAt: null, detail: event.detail };
    }
    default:
      if (action.state === 'open') return unsuccessful(action, event);
  }
  throw new Error(`action ${action.id}: nothing leads from ${action.state} by ${event.kind}`);
}

function unsuccessful(
  open: OpenAction,
  { kind, detail, forbidden, waitMs = throttledWaitMs, at }: Unsuccessful & { readonly at: EpochMs },
): PlannedAction | FailedAction {
  if (kind === 'throttled' || kind === 'not_sent') {
    const attempts = open.attempts - 1;
    // The longer 429s go on, the longer is the wait, whatever Retry-After says: it may be 0.
    const leastMs = Math.min(throttledWaitMs, at - open.plannedAt);
    const nextTryAt = kind === 'throttled' ? at + Math.max(waitMs, leastMs) : at;
    if (attempts === 0) return { ...open, state: 'planned', attempts, settledAt: null, nextTryAt, detail };
    return { ...open, state: 'unconfirmed', attempts, settledAt: open.settledAt ?? at, nextTryAt, detail };
  }
  const state = kind === 'refused' ? 'refused' : 'unconfirmed';
  // The person knows what came of it; nothing is sent again behind their back.
  const nextTryAt = open.by ? null : nextTryAfter(kind, open.attempts, at);
  return { ...open, state, settledAt: at, nextTryAt, detail, ...(forbidden && { forbidden }) };
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
