// After an answer about one mailbox: it is applied and judged, the breaker is asked (docs/guard.md, "When it does nothing,
// on purpose"), and the verdict plans or drops actions. Pure.

import { type Action, actionAfter, isGuardActionKind, type OpenAction, settingsText } from '../../core/action.ts';
import type { WarmupAnswer } from '../../core/answers.ts';
import { admit, type BreakerState, heldByBreaker, withdraw } from '../../core/guard/breaker.ts';
import { afterConfirmed, afterOperatorChange, firstSight } from '../../core/guard/memory.ts';
import { runStateOf } from '../../core/guard/run-state.ts';
import { type Change, changesShown, domainOf, type MailboxState, mailboxKey } from '../../core/mailbox.ts';
import { newcomerAnswers, ratePpm } from '../../core/policy.ts';
import { daysOf, isSameSpan } from '../../core/records.ts';
import type { Verdict } from '../../core/verdict.ts';
import { causeSentences } from '../../core/wording/causes.ts';
import type { NewDecision } from '../../store/writes.ts';
import { type JudgeOptions, judgeMailbox, type Observation, observe } from './observe.ts';
import { changesIn, isPausedByHabit } from './outside-changes.ts';
import { isActive, isEffectOf, isOurs, isWaiting, planAfter, type Settlement, showsChange } from './plan.ts';

export interface AnswerContext extends Omit<JudgeOptions, 'freshStats' | 'earlierRows'> {
  /** True unless the configuration or a person has switched writes off. */
  readonly mayAct: boolean;
  /** False for an answer of an earlier process, which is shown but not judged. */
  readonly hasRead: (route: 'stats' | 'warmup') => boolean;
  readonly breaker: BreakerState;
  /** Counts the running mailboxes under the breaker. Called only if the number matters. */
  readonly running: () => number;
  readonly newId: () => string;
  /** The newest actions on the mailbox. Called only if one of them waits. */
  readonly actionsOf: (mailbox: MailboxState) => readonly Action[];
  readonly timeZone: string;
}

export interface AnswerOutcome {
  readonly mailbox: MailboxState;
  readonly changes: readonly Change[];
  readonly decision: NewDecision | null;
  /** Actions that the answer confirmed, dropped or planned, in this order. */
  readonly actions: readonly Action[];
  /** Action whose POST the answer proves. */
  readonly confirmed: Action | null;
  readonly breaker: BreakerState | null;
}

export function afterAnswer(before: MailboxState, observation: Observation, context: AnswerContext): AnswerOutcome {
  const shown = changesIn(before, observation);
  const proof = proofIn(before, observation, context) ?? displacedProofIn(before, observation, context);
  const changes = proof ? shown.filter((one) => !isEffectOf(one, proof)) : shown;
  const observed = observe(before, observation);
  const confirmation = proof && confirm({ ...observed, action: proof }, context);
  const confirmed = confirmation?.action ?? null;
  const updated = confirmation
    ? { ...confirmation, action: proof === before.action ? confirmed : before.action }
    : observed;
  const mailbox = afterChanges(updated, changes);
  const settled = confirmed ? [confirmed] : [];
  const judgeable = observation.route === 'stats' || observation.route === 'warmup';
  const { mayAct, now, hasRead, newId } = context;
  const freshStats = observation.route === 'stats';
  const readable = judgeable && hasRead('stats') && hasRead('warmup');
  const earlierRows = freshStats ? (before.stats?.answer.rows ?? null) : null;
  const judgement = readable ? judgeMailbox(mailbox, { ...context, freshStats, earlierRows }) : null;
  if (!judgement) return { mailbox, changes, actions: settled, confirmed, decision: null, breaker: null };
  const { memory } = judgement;
  const { verdict, breaker } = askBreaker({ ...mailbox, memory }, judgement.verdict, context);
  const judged = { ...mailbox, memory, verdict: { at: now, answer: verdict } };
  const planned = planAfter({ mailbox: judged, verdict, mayAct, now, newId }).map((action) =>
    action.state === 'planned' && action.kind !== 'restore'
      ? { ...action, causes: causeSentences(judged, verdict, context.timeZone) }
      : action,
  );
  return {
    mailbox: { ...judged, action: planned.at(-1) ?? judged.action },
    changes,
    decision: {
      ...{ verdict, at: now },
      unchanged: before.verdict !== null && isSameSpan(before.verdict.answer, verdict),
      judged: 1,
      days: daysOf(verdict, mailbox.stats?.answer.rows ?? []),
    },
    actions: [...settled, ...planned],
    confirmed,
    breaker: breaker === context.breaker ? null : breaker,
  };
}

/**
 * Applies changes by others to the mailbox. A person who sets another limit takes the mailbox over, and our claim ends.
 * A mode or status that changed as well is for the guard's memory to judge: it may be a reversal.
 */
function afterChanges(mailbox: MailboxState, changes: readonly Change[]): MailboxState {
  if (changes.length === 0) return mailbox;
  const limited = changes.every(({ what }) => what === 'target_daily_limit');
  const memory = limited && mailbox.memory ? { ...mailbox.memory, claim: null } : mailbox.memory;
  return { ...mailbox, memory, changes: [...mailbox.changes, ...changes].slice(-changesShown) };
}

/**
 * Returns the action that the answer proves, or null. Only its read-backs prove a pause of ours where the API shows
 * paused by habit, for example at night.
 */
function proofIn(mailbox: MailboxState, observation: Observation, { now, words }: AnswerContext): Action | null {
  const { action } = mailbox;
  if (observation.route !== 'warmup' || !action || !isOurs(action, now)) return null;
  if (action.kind === 'pause' && action.state !== 'open' && isPausedByHabit(mailbox, words, now)) return null;
  return showsChange(action, observation.observed.answer, words) ? action : null;
}

/** Finds a person's change that failed and shows late, while the action that it displaced waits in its place again. */
function displacedProofIn(mailbox: MailboxState, observation: Observation, context: AnswerContext): Action | null {
  const [, action] = isWaiting(mailbox.action) ? context.actionsOf(mailbox) : [];
  return action?.by ? proofIn({ ...mailbox, action }, observation, context) : null;
}

/** Confirms the action of a mailbox whose warm-up shows it: our change is claimed, and the evidence restarts. */
function confirm(
  observed: MailboxState,
  context: Pick<AnswerContext, 'policy' | 'words' | 'now' | 'apiAheadMs'>,
): MailboxState {
  if (!observed.action || !observed.warmup) return observed;
  const { policy, words, now, apiAheadMs } = context;
  const { status, mode } = observed.warmup.answer;
  const rows = observed.stats?.answer.rows ?? null;
  const sight = { mode, run: runStateOf(status, words, rows, now), rows, now, apiAheadMs };
  const { kind, by } = observed.action;
  const detail = `read back: ${readBackText(observed.action, observed.warmup.answer)}`;
  const { displaced: _, ...sent } = observed.action;
  const action = actionAfter(sent as Action, { kind: 'confirmed', detail, at: now });
  const done = { kind, actionId: action.id, previousMode: action.before.mode, word: status };
  const known = observed.memory ?? firstSight(policy, sight);
  const own = !by && isGuardActionKind(kind);
  const memory = own
    ? afterConfirmed(known, { ...done, kind }, sight)
    : afterOperatorChange(policy, known, done, sight);
  return { ...observed, memory, action };
}

/** `overtaken`: a newer answer was recorded before, so this one shows no changes by others. */
export function afterSettlement(
  before: MailboxState,
  open: OpenAction,
  settlement: Settlement,
  context: Pick<AnswerContext, 'policy' | 'words' | 'now' | 'apiAheadMs'> & { readonly overtaken: boolean },
): Pick<AnswerOutcome, 'mailbox' | 'changes'> {
  const { now, overtaken } = context;
  if (settlement.kind !== 'confirmed') {
    return { mailbox: { ...before, action: actionAfter(open, { ...settlement, at: now }) }, changes: [] };
  }
  const observation = { route: 'warmup', observed: settlement.observed } as const;
  const found = overtaken ? [] : changesIn(before, observation);
  const changes = found.filter((one) => !isEffectOf(one, open));
  return { mailbox: afterChanges(confirm(observe(before, observation), context), changes), changes };
}

function readBackText(
  { targetMode, targetLimit, targetSettings }: Action,
  { mode, status, config }: WarmupAnswer,
): string {
  if (targetSettings !== undefined) return settingsText(targetSettings);
  if (targetLimit !== undefined) return `target daily limit ${config.targetDailyLimit}`;
  return targetMode === null ? `status ${status}` : `mode ${mode}`;
}

/** Returns the verdict that the breaker lets pass, and the breaker after it. A restore passes unasked. */
export function askBreaker(
  mailbox: MailboxState,
  verdict: Verdict,
  given: Pick<AnswerContext, 'breaker' | 'policy' | 'running' | 'now' | 'mayAct'>,
): { readonly verdict: Verdict; readonly breaker: BreakerState } {
  const { breaker, policy, mayAct, running, now } = given;
  const key = mailboxKey(mailbox.account, mailbox.id);
  const protects = verdict.action === 'recovery' || verdict.action === 'pause';
  // A hold says nothing about the bounces, so the breaker keeps what it holds.
  if (verdict.action === 'hold') return { verdict, breaker };
  // No action waits for the breaker while writes are off.
  if (!protects || !mayAct) return { verdict, breaker: withdraw(breaker, key) };
  // An action in progress was admitted before. A worse verdict only changes its kind.
  if (isActive(mailbox.action) && mailbox.action.kind !== 'restore') return { verdict, breaker };
  const { account, email } = mailbox;
  const statsAt = now - verdict.dataAgeMs;
  const about = {
    key,
    account,
    email,
    domain: domainOf(email),
    weight: weightOf(verdict),
    firstSight: (mailbox.memory?.answersJudged ?? 0) <= newcomerAnswers,
    statsAt,
  };
  const candidate = verdict.reason === 'emergency' ? { ...about, emergency: true as const } : about;
  const { state, admitted } = admit(breaker, candidate, { policy: policy.breaker, running, now });
  if (admitted) return { verdict, breaker: state };
  return { verdict: heldByBreaker(verdict), breaker: state };
}

/** Returns the rate as a multiple of the limit. Without a limit, it returns the rate itself, which is larger. */
function weightOf(verdict: Verdict): number {
  const rate = ratePpm(verdict.emergency ?? verdict) ?? 0;
  return verdict.limitPpm ? rate / verdict.limitPpm : rate;
}
