// Rules of the guard's own actions: guard_acted, restored and guard_action_failed.

import { type Action, type ActionKind, leavesGuardAlone, nextTryAfterUnconfirmed } from '../../core/action.ts';
import type { AlertFacts, Subject, Transition } from '../../core/alert.ts';
import type { AlertRule } from '../../core/alert-rules.ts';
import { isWarmupMode, type Policy } from '../../core/policy.ts';
import { type EpochMs, minuteMs, secondMs } from '../../core/time.ts';
import type { Verdict } from '../../core/verdict.ts';
import {
  actionNoun,
  actionText,
  campaignsUntouched,
  cleanText,
  countsReadText,
  explainVerdict,
  rateText,
  undoText,
  verdictNumbers,
} from '../../core/wording/explain.ts';
import { counted, momentText } from '../../core/wording/phrases.ts';
import { writesAreOff } from '../../core/write-scope.ts';
import { type Condition, condition, eventOf, factsOf, type MailboxContext, type Words } from '../condition.ts';

export type ActionContext = Pick<MailboxContext, 'now' | 'policy' | 'rules'>;

/** Returns the event of a settled action, or null if its rule is off. */
export function actedEvent(action: Action, context: ActionContext): Transition | null {
  const { rules } = context;
  const rule = action.kind === 'restore' ? 'restored' : 'guard_acted';
  const acted = action.kind === 'pause' ? rules.acted.pause : rules.acted.recovery;
  const severity = rule === 'restored' ? rules.of.restored.severity : acted;
  const subject = actionSubject(rule, action, `${action.id}:${action.state}`);
  const facts = factsOf(actionWords(action, context), actionNumbers(action));
  return eventOf(subject, { severity, since: action.openedAt ?? action.plannedAt, facts }, context);
}

/** Time that an action may wait for the request before it and for its turn in the rate limit. */
const overdueAfterMs = 5 * minuteMs;

export function isOverdue(action: Action, now: EpochMs): boolean {
  if (action.by || action.kind === 'restore') return false;
  const { state, nextTryAt, plannedAt, settledAt, attempts } = action;
  // A 429 moves the next try, but not the moment since which the action is due.
  const again = () => (nextTryAt === null ? null : nextTryAfterUnconfirmed(attempts, settledAt ?? plannedAt));
  const dueAt = state === 'planned' ? plannedAt : state === 'unconfirmed' ? again() : null;
  return dueAt !== null && now - dueAt > overdueAfterMs;
}

/** Unknown while a try is due, and after a failed change by a person, who sees its outcome at once. */
export function actionFailedCondition(
  action: Action,
  verdict: Verdict | undefined,
  context: ActionContext & Pick<MailboxContext, 'writesOff'>,
): Condition {
  const { by, state } = action;
  const pending = !by && state !== 'confirmed' && state !== 'dropped';
  const givenUp = state === 'refused' || (state === 'unconfirmed' && action.nextTryAt === null);
  const fails = pending && (givenUp || isOverdue(action, context.now));
  const ended = pending ? null : endOf(action, verdict, context);
  return condition(actionSubject('guard_action_failed', action, null), {
    active: ended ? false : fails ? true : 'unknown',
    firing: () => actionWords(action, context),
    ended: () => ended ?? [''],
    numbers: () => actionNumbers(action),
  });
}

/** Returns words that claim no more than was read, or null if nothing ends the alert. */
function endOf(
  action: Action,
  verdict: Verdict | undefined,
  context: Parameters<typeof actionFailedCondition>[2],
): Words | null {
  const { email, kind, by } = action;
  const needless = `${email}: no action is needed now`;
  // A change of the limit or of other settings settles nothing that the guard acts on.
  if (action.state === 'confirmed' && !leavesGuardAlone(kind)) {
    const done = actionText(action, context.now, context.rules.timeZone);
    if (by) return [needless, done];
    return [`${email}: ${doneWords[kind]} after all`, done, undoText(action)];
  }
  if (action.state !== 'dropped' && !by) return null;
  const { policy, writesOff } = context;
  const off = writesOff ? writesAreOff(writesOff) : policy.enforce ? null : 'enforcement is off (guard.enforce).';
  if (off) return [`${email}: Warmwarden does not try again`, `NO ACTION TAKEN: ${off}`];
  // Neither a hold nor an action that is still wanted is an all-clear.
  if (verdict?.action !== 'none' || verdict.reason === 'no_data') return null;
  return [needless, explainVerdict(verdict)];
}

function actionSubject(rule: AlertRule, action: Action, object: string | null): Subject {
  return { rule, account: action.account, mailboxId: action.mailboxId, email: action.email, object };
}

const doneWords: Readonly<Record<ActionKind, string>> = {
  recovery: 'switched to recovery mode',
  pause: 'warm-up paused',
  restore: 'restored from recovery',
  resume: 'warm-up resumed',
  mode: 'mode set',
  limit: 'daily limit set',
  set: 'settings changed',
};

function actionTitle(action: Action): string {
  const noun = actionNoun(action);
  if (action.state === 'refused') return `${action.email}: the API refused ${noun}`;
  if (action.state === 'unconfirmed') return `${action.email}: ${noun} is not confirmed`;
  return `${action.email}: ${action.state === 'planned' ? `${noun} is overdue` : doneWords[action.kind]}`;
}

function actionWords(action: Action, context: ActionContext): Words {
  const { kind, state, verdict, nextTryAt } = action;
  const { policy, now } = context;
  const zone = context.rules.timeZone;
  const failed = state === 'refused' || state === 'unconfirmed';
  const overdue = isOverdue(action, now);
  const next =
    nextTryAt === null ? 'It is not sent again.' : `Warmwarden tries again on ${momentText(nextTryAt, zone)}.`;
  const change = action.targetMode === null ? 'pause its warm-up' : `set its mode to ${action.targetMode}`;
  const shown = action.targetMode === null ? 'the pause' : `${action.targetMode} mode`;
  const advice =
    overdue || nextTryAt !== null
      ? `Better not wait: ${change} yourself in the warm-up service.`
      : `If the warm-up service does not show ${shown}, ${change} there yourself.`;
  return [
    actionTitle(action),
    kind === 'pause' && state !== 'refused' && !overdue && campaignsUntouched,
    kind === 'restore' ? cleanText(verdict) : rateText(verdict),
    ...action.causes,
    repeatText(action, policy),
    overdue ? overdueText(action, zone) : actionText(action, now, zone),
    countsReadText(verdict, action.plannedAt, zone),
    overdue ? 'Warmwarden tries again until it can send it.' : failed && next,
    (overdue || failed) && advice,
    wayBackText(action, policy),
    state === 'confirmed' && undoText(action),
  ];
}

function overdueText(action: Action, zone: string): string {
  return `NO ACTION TAKEN: Warmwarden has not been able to send ${actionNoun(action)} since ${momentText(action.plannedAt, zone)}. An earlier request failed, or waited for the rate limit.`;
}

function wayBackText({ kind, state, before: { mode } }: Action, { restore }: Policy): string {
  if (kind !== 'recovery' || state !== 'confirmed' || !isWarmupMode(mode) || mode === 'recovery') return '';
  return restore.enabled
    ? `The warm-up sends less. Unless a Warmwarden incident says otherwise, leave the campaigns running: the cause can wait until the morning. Warmwarden sets the mailbox back to ${mode} after at least ${counted(restore.days, 'day')} and enough emails without a bounce.`
    : 'Warmwarden does not change the mode back by itself, because guard.restore.enabled is false.';
}

function repeatText(action: Action, policy: Policy): string {
  const { count, days } = policy.maxInterventions;
  if (action.verdict.reason === 'repeat_offender') {
    if (count === 1) return 'max_interventions.count is 1, so Warmwarden paused the warm-up at the first breach.';
    return `Warmwarden acted on this mailbox at least ${count === 2 ? 'once' : `${count - 1} times`} in the ${days === 1 ? 'day' : counted(days, 'day')} before, so this time it paused the warm-up.`;
  }
  if (action.verdict.reason === 'emergency') return 'So many bounces are an emergency in any mode.';
  const already = action.kind === 'pause' && action.verdict.mode === 'recovery';
  return already ? 'The mailbox was already in recovery mode, so the next step is to pause its warm-up.' : '';
}

function actionNumbers(action: Action): AlertFacts['numbers'] {
  const { openedAt, settledAt } = action;
  return {
    ...verdictNumbers(action.verdict),
    action: action.kind,
    outcome: action.state,
    attempts: action.attempts,
    took_seconds: openedAt === null || settledAt === null ? null : Math.max(0, settledAt - openedAt) / secondMs,
    mode_before: action.before.mode,
  };
}
