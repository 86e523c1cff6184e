// The tick of one mailbox: an answer is taken in, a POST of ours may be proven by it, and the verdict plans or drops
// actions. Pure: the recorder commits what comes out.

import { afterConfirmed, afterOperatorChange, firstSight } from '../guard/memory.ts';
import { runStateOf, type StatusWords } from '../guard/run-state.ts';
import { type Action, isGuardActionKind, type OpenAction } from '../model/action.ts';
import { actionAfter } from '../model/action-transition.ts';
import type { Observed, WarmupAnswer } from '../model/answers.ts';
import type { BreakerState } from '../model/breaker.ts';
import { type Change, changesShown } from '../model/change.ts';
import { daysOf, isSameSpan } from '../model/decision.ts';
import type { MailboxState } from '../model/mailbox.ts';
import type { Policy } from '../model/policy.ts';
import type { EpochMs } from '../model/time.ts';
import type { Verdict } from '../model/verdict.ts';
import type { DecisionRecord } from '../store/records.ts';
import { causeSentences, type Others } from '../wording/causes.ts';
import { askBreaker } from './admission.ts';
import { changesIn } from './changes.ts';
import { isEffectOf, isNew, type LatePost, latePostIn, memoryAfter, undoneSince, withoutLanded } from './late-posts.ts';
import { judgeMailbox, type Observation, observe } from './observe.ts';
import { isPausedByHabit } from './outside-changes.ts';
import { isOurs, planAfter, type Settlement, showsChange } from './plan.ts';

export interface TickContext {
  readonly policy: Policy;
  /** Neither the configuration nor a person has switched writing off. */
  readonly enforce: boolean;
  readonly words: StatusWords;
  readonly now: EpochMs;
  /** Whether this process has read that answer of the mailbox: what an earlier one read is shown but not judged. */
  readonly hasRead: (route: 'stats' | 'warmup') => boolean;
  readonly breaker: BreakerState;
  /** Counts the running mailboxes under the breaker; asked only when it matters. */
  readonly running: () => number;
  readonly newId: () => string;
  /** Those who share something with it; asked only when something is planned. */
  readonly others: (mailbox: MailboxState) => readonly Others[];
  /** How far the API's clock is ahead of ours. */
  readonly apiAheadMs?: number;
  /** Whether its account counts half of the emails that were read before, or fewer; asked only when the mailbox does. */
  readonly accountHasShrunk?: (mailbox: MailboxState) => boolean;
  /** The newest actions on the mailbox; asked only when one of them may come late. */
  readonly actionsOf: (mailbox: MailboxState) => readonly Action[];
  /** For the times in the causes: an IANA name. */
  readonly timeZone: string;
}

export interface Tick {
  readonly mailbox: MailboxState;
  /** What others changed since the look before. */
  readonly changes: readonly Change[];
  /** null when nothing was judged. */
  readonly verdict: Verdict | null;
  readonly decision: DecisionRecord | null;
  /** Actions that it confirmed, dropped or planned, in this order. */
  readonly actions: readonly Action[];
  /** The action whose POST the answer proves. */
  readonly confirmed: Action | null;
  /** The late POST of an earlier process that the answer shows. */
  readonly late: LatePost | null;
  /** The breaker after the verdict, when it moved. */
  readonly breaker: BreakerState | null;
}

export function tick(before: MailboxState, observation: Observation, context: TickContext): Tick {
  const found = changesIn(before, observation);
  const current = provenIn(before, observation, context);
  // Asked first: what was wanted since goes before a late POST, whoever's it is.
  const late = current ? null : latePostIn(before, observation, context);
  const proven = current ?? (late || found.length === 0 ? null : belatedIn(before, observation, context));
  const own = proven?.action ?? late?.post;
  const changes = own ? found.filter((one) => !isEffectOf(one, own)) : found;
  const observed = late?.mailbox ?? observe(before, observation);
  const confirmation = proven && confirm({ ...before, action: proven.action }, proven.observed, context);
  const confirmed = confirmation?.action ?? null;
  const isCurrent = proven?.action === before.action;
  const taken = confirmation ? { ...confirmation, action: isCurrent ? confirmed : before.action } : observed;
  const seen = afterChanges(taken, changes);
  const settled = confirmed ? [confirmed] : (late?.actions ?? []);
  const judgeable = observation.route === 'stats' || observation.route === 'warmup';
  const { enforce, now, hasRead, newId } = context;
  const freshStats = observation.route === 'stats';
  const readable = judgeable && hasRead('stats') && hasRead('warmup');
  const earlierRows = freshStats ? (before.stats?.answer.rows ?? null) : null;
  const judgement = readable ? judgeMailbox(seen, { ...context, freshStats, earlierRows }) : null;
  if (!judgement) {
    const nothing = { verdict: null, decision: null, breaker: null };
    return { mailbox: seen, changes, actions: settled, confirmed, late, ...nothing };
  }
  const { memory } = judgement;
  const { verdict, breaker } = askBreaker({ ...seen, memory }, judgement.verdict, { ...context, mayWrite: enforce });
  const judged = { ...seen, memory, verdict: { at: now, answer: verdict } };
  const planned = planAfter({ mailbox: judged, verdict, enforce, now, newId }).map((action) =>
    action.state === 'planned' && action.kind !== 'restore'
      ? { ...action, causes: causeSentences(judged, verdict, context.others(judged), context.timeZone) }
      : action,
  );
  return {
    mailbox: { ...judged, action: planned.at(-1) ?? judged.action },
    changes,
    verdict,
    decision: {
      verdict,
      unchanged: before.verdict !== null && isSameSpan(before.verdict.answer, verdict),
      judged: 1,
      days: daysOf(verdict, seen.stats?.answer.rows ?? []),
    },
    actions: [...settled, ...planned],
    confirmed,
    late,
    breaker: breaker === context.breaker ? null : breaker,
  };
}

/**
 * The mailbox with what others changed. Whoever sets another limit has taken the mailbox over: our claim ends. Another
 * mode or status beside it is for the guard's memory to judge: that may be a reversal.
 */
function afterChanges(mailbox: MailboxState, changes: readonly Change[]): MailboxState {
  if (changes.length === 0) return mailbox;
  const limited = changes.every(({ what }) => what === 'target_daily_limit');
  const memory = limited && mailbox.memory ? { ...mailbox.memory, claim: null } : mailbox.memory;
  return { ...mailbox, memory, changes: [...mailbox.changes, ...changes].slice(-changesShown) };
}

/** A POST of ours, and the warm-up answer that proves it. */
interface Proven {
  readonly action: Action;
  readonly observed: Observed<WarmupAnswer>;
}

/**
 * The action on the mailbox, when the answer proves its POST. Where the API shows paused by habit, at night say, a pause that the looks
 * after its POST did not show is proven by nothing.
 */
function provenIn(mailbox: MailboxState, observation: Observation, { now, words }: TickContext): Proven | null {
  const { action } = mailbox;
  if (observation.route !== 'warmup' || !isOurs(action, now)) return null;
  const { observed } = observation;
  if (action.kind === 'pause' && action.state !== 'open' && isPausedByHabit(mailbox, words, now)) return null;
  return showsChange(action, observed.answer, words) ? { action, observed } : null;
}

/**
 * A person's change that was not confirmed, and in whose place an action of the guard came back before it showed. Where the
 * answer takes back what was confirmed since, it is no belated success, but a newer change of others.
 */
function belatedIn(before: MailboxState, observation: Observation, context: TickContext): Proven | null {
  const { now, words, actionsOf } = context;
  if (observation.route !== 'warmup' || !before.warmup) return null;
  const { observed } = observation;
  const looks = { was: before.warmup.answer, is: observed.answer, words };
  const actions = actionsOf(before);
  const action = actions.find(
    (one) => one.by && isOurs(one, now) && isNew(one, looks) && undoneSince(one, actions, looks) === null,
  );
  return action ? { action, observed } : null;
}

/** The mailbox after its action was read back: what we changed is claimed, and the evidence restarts. */
export function confirm(
  before: MailboxState,
  warmup: Observed<WarmupAnswer>,
  context: Pick<TickContext, 'policy' | 'words' | 'now' | 'apiAheadMs'>,
): MailboxState {
  if (!before.action) return before;
  const { policy, words, now, apiAheadMs = 0 } = context;
  const { status, mode } = warmup.answer;
  const rows = before.stats?.answer.rows ?? null;
  const sight = { mode, run: runStateOf(status, words, rows, now), rows, now, apiAheadMs };
  const { kind, by } = before.action;
  const detail = `read back: ${readBackText(before.action, warmup.answer)}`;
  const { displaced: _, ...sent } = before.action;
  const action = actionAfter(sent as Action, { kind: 'confirmed', detail, at: now });
  const done = { kind, actionId: action.id, previousMode: action.before.mode, word: status };
  const known = before.memory ?? firstSight(policy, sight);
  const own = !by && isGuardActionKind(kind);
  const memory = own
    ? afterConfirmed(known, { ...done, kind }, sight)
    : afterOperatorChange(policy, known, done, sight);
  return { ...before, warmup, memory: withoutLanded(memory, action), action };
}

/**
 * The mailbox after a try of its action, and what others changed since the look before, where that was read back. `overtaken`: a
 * newer answer was taken in before.
 */
export function afterSettlement(
  before: MailboxState,
  open: OpenAction,
  settlement: Settlement,
  context: Pick<TickContext, 'policy' | 'words' | 'now' | 'apiAheadMs'> & { readonly overtaken: boolean },
): Pick<Tick, 'mailbox' | 'changes'> {
  const { now, overtaken } = context;
  if (settlement.kind !== 'confirmed') {
    const memory = memoryAfter(settlement, before.memory, open, now);
    return { mailbox: { ...before, memory, action: actionAfter(open, { ...settlement, at: now }) }, changes: [] };
  }
  const { observed } = settlement;
  const found = overtaken ? [] : changesIn(before, { route: 'warmup', observed });
  const changes = found.filter((one) => !isEffectOf(one, open));
  return { mailbox: afterChanges(confirm(before, observed, context), changes), changes };
}

/** The part of the answer that the action is about. */
function readBackText({ targetMode, targetLimit }: Action, { mode, status, config }: WarmupAnswer): string {
  if (targetLimit !== undefined) return `target daily limit ${config.targetDailyLimit}`;
  return targetMode === null ? `status ${status}` : `mode ${mode}`;
}
