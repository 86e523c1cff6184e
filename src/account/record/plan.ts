// Consequences of a verdict and an answer for the action on a mailbox: plan, confirm, drop. Pure.

import {
  type Action,
  actionAfter,
  type FailedAction,
  type GuardActionKind,
  hasSettings,
  type OpenAction,
  type Outcome,
  type PlannedAction,
  type Unsuccessful,
} from '../../core/action.ts';
import type { Observed, WarmupAnswer } from '../../core/answers.ts';
import { plainWord, type StatusWords, wordState } from '../../core/guard/run-state.ts';
import type { Change, MailboxState } from '../../core/mailbox.ts';
import type { WarmupMode } from '../../core/policy.ts';
import { type EpochMs, elapsedMs, hourMs, minuteMs } from '../../core/time.ts';
import type { Verdict } from '../../core/verdict.ts';
import { reasonWords } from '../../core/wording/states.ts';
import type { AskPlace } from './observe.ts';

/** A change that appears later than this after our POST counts as another person's. */
const ownsLateChangeMs = hourMs;

/** A failed change of a person's is over: the person has the answer, and nothing is retried. */
type ActiveAction = PlannedAction | OpenAction | (FailedAction & { readonly by: null });

/** True if the action is wanted, in progress, or failed and not withdrawn: no second of its kind may be planned. */
export function isActive(action: Action | null): action is ActiveAction {
  if (action === null || action.state === 'confirmed' || action.state === 'dropped') return false;
  return !action.by || action.state === 'planned' || action.state === 'open';
}

/** True if the action is active and no POST of it is in progress. */
export function isWaiting(action: Action | null): action is Exclude<ActiveAction, OpenAction> {
  return isActive(action) && action.state !== 'open';
}

/** A new status word also shows a pause or a resume, unless it means the opposite. */
export function showsChange(
  action: Pick<Action, 'kind' | 'targetMode' | 'targetLimit' | 'targetSettings' | 'before'>,
  warmup: WarmupAnswer,
  words: StatusWords,
): boolean {
  if (action.targetLimit !== undefined) return warmup.config.targetDailyLimit === action.targetLimit;
  if (action.targetSettings !== undefined) return hasSettings(warmup.config, action.targetSettings);
  if (action.targetMode !== null) return warmup.mode === action.targetMode;
  const [wanted, contrary] =
    action.kind === 'pause' ? (['paused', 'running'] as const) : (['running', 'paused'] as const);
  const state = wordState(warmup.status, words);
  if (state === wanted) return true;
  const [was, is] = [plainWord(action.before.status), plainWord(warmup.status)];
  return was !== null && is !== null && is !== was && state !== contrary;
}

/** Period after a confirmed change in which a cache or a replica may still answer with the state from before it. */
const oldAnswersMs = 2 * minuteMs;

/** True if the answer shows the mode and status from before an action on them that was confirmed just now. */
export function isFromBefore(
  { action }: Pick<MailboxState, 'action'>,
  { at, answer }: Observed<WarmupAnswer>,
  words: StatusWords,
): boolean {
  if (action?.targetLimit !== undefined || action?.targetSettings !== undefined) return false;
  if (action?.state !== 'confirmed' || elapsedMs(action.settledAt, at) > oldAnswersMs) return false;
  const isAsBefore = answer.mode === action.before.mode && answer.status === action.before.status;
  return isAsBefore && !showsChange(action, answer, words);
}

/** Returns true if an answer that shows the change proves our own POST: a POST was sent, and not too long ago. */
export function isOurs(action: Action, now: EpochMs): boolean {
  if (action.attempts === 0 || action.openedAt === null) return false;
  // A paused status may have other causes, such as a service that pauses at night.
  if (action.state === 'open' || (action.state === 'unconfirmed' && !action.by && action.kind !== 'pause')) return true;
  const late = action.state === 'dropped' || action.state === 'unconfirmed';
  return late && now - action.openedAt <= ownsLateChangeMs;
}

/** Returns true if a change between two looks is the effect of the action. A mode brings its own limit; no look compares settings. */
export function isEffectOf({ what }: Change, { targetMode, targetLimit, targetSettings }: Action): boolean {
  if (targetSettings !== undefined) return false;
  if (targetLimit !== undefined) return what === 'target_daily_limit';
  return targetMode === null ? what === 'warm-up' : what === 'mode' || what === 'target_daily_limit';
}

export function actionKind(verdict: Verdict): GuardActionKind | null {
  return verdict.action === 'none' || verdict.action === 'hold' ? null : verdict.action;
}

export const writesOffReason = 'enforcement or writes are off';

export interface Planning {
  readonly mailbox: MailboxState;
  readonly verdict: Verdict;
  /** False if the configuration or a person has switched writes off, whatever was started before. */
  readonly mayAct: boolean;
  readonly now: EpochMs;
  readonly newId: () => string;
}

/** Returns the actions that a new verdict changes: an unwanted one is dropped, a wanted one is planned. */
export function planAfter({ mailbox, verdict, mayAct, now, newId }: Planning): readonly Action[] {
  const current = mailbox.action;
  const wanted = actionKind(verdict);
  // While a POST may be in progress, its outcome comes first.
  if (current?.state === 'open') return [];
  // A person's change that is about to be sent comes first, too.
  if (current?.by && isActive(current)) return [];
  if (mayAct && isActive(current) && current.kind === wanted) return [];
  const actions: Action[] = [];
  const why = mayAct ? `no longer needed: ${reasonWords(verdict.reason)}` : writesOffReason;
  if (isActive(current)) actions.push(actionAfter(current, { kind: 'dropped', detail: why, at: now }));
  if (wanted && mayAct) {
    const toPlan = { kind: wanted, targetMode: targetMode(wanted, verdict), by: null };
    actions.push(plannedAction(mailbox, toPlan, { verdict, now, newId }));
  }
  return actions;
}

export type WantedChange = Pick<
  Action,
  | 'kind'
  | 'targetMode'
  | 'targetLimit'
  | 'targetSettings'
  | 'by'
  | 'undoes'
  | 'undoesLimit'
  | 'undoesSettings'
  | 'displaced'
>;

/** Returns an id that sorts by time. `chance` in [0, 1) makes it unique within a millisecond. */
export function actionId(now: EpochMs, chance: number): string {
  const tail = Math.floor(chance * 36 ** 6);
  return `${now.toString(36).padStart(9, '0')}-${tail.toString(36).padStart(6, '0')}`;
}

export function plannedAction(
  mailbox: MailboxState,
  change: WantedChange,
  { verdict, now, newId }: Pick<Planning, 'verdict' | 'now' | 'newId'>,
): PlannedAction {
  return {
    id: newId(),
    account: mailbox.account,
    mailboxId: mailbox.id,
    email: mailbox.email,
    ...change,
    state: 'planned',
    verdict,
    before: { mode: verdict.mode, status: mailbox.warmup?.answer.status ?? null, run: verdict.run },
    attempts: 0,
    plannedAt: now,
    openedAt: null,
    settledAt: null,
    nextTryAt: null,
    detail: null,
    causes: [],
  };
}

function targetMode(kind: GuardActionKind, verdict: Verdict): WarmupMode | null {
  if (kind === 'pause') return null;
  return kind === 'recovery' ? 'recovery' : (verdict.restore?.mode ?? null);
}

/** Outcome of a POST and its read-back. */
export type Settlement =
  | { readonly kind: 'confirmed'; readonly observed: Observed<WarmupAnswer>; readonly askPlace: AskPlace }
  | Unsuccessful;

export function isOutcome(settlement: Settlement): settlement is Settlement & { readonly kind: Outcome } {
  return settlement.kind === 'confirmed' || settlement.kind === 'refused' || settlement.kind === 'unconfirmed';
}
