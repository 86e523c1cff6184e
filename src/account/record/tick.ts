// The tick of one mailbox: an answer is taken in, a POST of ours may be proven by it, and the verdict plans or drops
// actions. Pure: the recorder commits what comes out.

import { type Action, isGuardActionKind, type OpenAction } from '../../core/action.ts';
import { actionAfter } from '../../core/action-transition.ts';
import {
  type BlacklistAnswer,
  type DnsAnswer,
  dnsRecords,
  type MailboxDetail,
  type Observed,
  type WarmupAnswer,
} from '../../core/answers.ts';
import type { BreakerState } from '../../core/breaker.ts';
import { type Change, type ChangedThing, changesShown } from '../../core/change.ts';
import { daysOf, isSameSpan } from '../../core/decision.ts';
import { admit, heldByBreaker, withdraw } from '../../core/guard/breaker.ts';
import { afterConfirmed, afterOperatorChange, firstSight } from '../../core/guard/memory.ts';
import { runStateOf, type StatusWords } from '../../core/guard/run-state.ts';
import { domainOf, type MailboxState, mailboxKey } from '../../core/mailbox.ts';
import { type Policy, ratePpm } from '../../core/policy.ts';
import { dayMs, type EpochMs } from '../../core/time.ts';
import type { Verdict } from '../../core/verdict.ts';
import { causeSentences, type Others } from '../../core/wording/causes.ts';
import { counted } from '../../core/wording/phrases.ts';
import type { DecisionRecord } from '../../store/records.ts';
import { isEffectOf, isNew, type LatePost, latePostIn, memoryAfter, undoneSince, withoutLanded } from './late-posts.ts';
import { judgeMailbox, type Observation, observe } from './observe.ts';
import { isPausedByHabit } from './outside-changes.ts';
import { isActive, isOurs, planAfter, type Settlement, showsChange } from './plan.ts';

// Asks the breaker before a verdict becomes an action. Pure. docs/guard.md, "When it does nothing, on purpose".

/** A mailbox judged so few times is seen for the first time: a breaker that trips then opens by a release only. */
const firstSightAnswers = 2;

interface Admission {
  readonly verdict: Verdict;
  readonly breaker: BreakerState;
}

/** The verdict as the breaker lets it pass, and the breaker after it. A restore protects nobody, so the breaker is not asked. */
export function askBreaker(
  mailbox: MailboxState,
  verdict: Verdict,
  given: {
    readonly breaker: BreakerState;
    readonly policy: Policy;
    readonly mayWrite: boolean;
    readonly running: () => number;
    readonly now: EpochMs;
  },
): Admission {
  const { breaker, policy, mayWrite, running, now } = given;
  const key = mailboxKey(mailbox.account, mailbox.id);
  const protects = verdict.action === 'recovery' || verdict.action === 'pause';
  // A hold says nothing about the bounces: what the breaker holds stays held.
  if (verdict.action === 'hold') return { verdict, breaker };
  if (!protects) return { verdict, breaker: withdraw(breaker, key) };
  // Where nothing may be written, nothing waits for the breaker.
  if (!mayWrite) return { verdict, breaker: withdraw(breaker, key) };
  // An action of ours that is under way was admitted; a worse verdict only makes it another one.
  if (isActive(mailbox.action) && mailbox.action.kind !== 'restore') return { verdict, breaker };
  const { account, email } = mailbox;
  const statsAt = now - verdict.dataAgeMs;
  const firstSight = (mailbox.memory?.answersJudged ?? 0) <= firstSightAnswers;
  const about = { key, account, email, domain: domainOf(email), weight: weightOf(verdict), firstSight, statsAt };
  const candidate = verdict.reason === 'emergency' ? { ...about, emergency: true as const } : about;
  const { state, admitted } = admit(breaker, candidate, { policy: policy.breaker, running, now });
  if (admitted) return { verdict, breaker: state };
  return { verdict: heldByBreaker(verdict), breaker: state };
}

/** The rate as a multiple of the limit; without a limit the rate itself, which is larger. */
function weightOf(verdict: Verdict): number {
  const rate = ratePpm(verdict.emergency ?? verdict) ?? 0;
  return verdict.limitPpm ? rate / verdict.limitPpm : rate;
}

// What others changed between two looks at a mailbox, as far as the API shows it. Pure.

/** A change of the limit this soon after a mode was set through Warmwarden is taken for its effect. */
const effectWithinMs = dayMs;

/** One value at two looks; what could not be read at one of them is no change. */
interface Pair {
  readonly what: ChangedThing;
  readonly from: string | null;
  readonly to: string | null;
  /** null is a value (no record), not something unread. */
  readonly nullable?: boolean;
}

/** What is different in an answer from the one before it on the same route; nothing without one before. */
export function changesIn(before: MailboxState, { route, observed }: Observation): readonly Change[] {
  switch (route) {
    case 'warmup':
      return between(before.warmup, observed, (was, is) => warmupPairs(was, is, before, observed.at));
    case 'mailbox':
      return between(before.detail, observed, connectionPairs);
    case 'dns':
      return between(before.dns, observed, dnsPairs);
    case 'blacklist':
      return between(before.blacklist, observed, listingPairs);
    case 'stats':
      return [];
  }
}

function between<Answer>(
  before: Observed<Answer> | null,
  observed: Observed<Answer>,
  pairs: (was: Answer, is: Answer) => readonly Pair[],
): readonly Change[] {
  if (!before) return [];
  return pairs(before.answer, observed.answer)
    .filter(({ from, to, nullable }) => from !== to && (nullable || (from !== null && to !== null)))
    .map(({ what, from, to }) => ({ since: before.at, at: observed.at, what, from, to }));
}

function warmupPairs(was: WarmupAnswer, is: WarmupAnswer, before: MailboxState, at: EpochMs): readonly Pair[] {
  const limit = (answer: WarmupAnswer) => answer.config.targetDailyLimit?.toString() ?? null;
  const ownEffect = modesSetAt(before).some((setAt) => at - setAt <= effectWithinMs);
  return [
    { what: 'mode', from: was.mode, to: is.mode },
    { what: 'warm-up', from: was.status, to: is.status },
    ...(ownEffect ? [] : [{ what: 'target_daily_limit' as const, from: limit(was), to: limit(is) }]),
  ];
}

/** When Warmwarden set a mode: its newest action did, or one before it that a claim still names. */
function modesSetAt({ action, memory }: MailboxState): readonly EpochMs[] {
  const acted = action?.state === 'confirmed' && action.targetMode !== null ? [action.settledAt] : [];
  const claims = [memory?.claim, memory?.claim?.under].flatMap((claim) => (claim?.kind === 'recovery' ? [claim] : []));
  return [...acted, ...claims.map(({ since }) => since)];
}

function connectionPairs(was: MailboxDetail, is: MailboxDetail): readonly Pair[] {
  const word = ({ connection, connectionError }: MailboxDetail) =>
    connection === 'unclear' ? null : (connectionError ?? connection);
  return [{ what: 'connection', from: word(was), to: word(is) }];
}

function dnsPairs(was: DnsAnswer, is: DnsAnswer): readonly Pair[] {
  return dnsRecords.flatMap((name) => {
    const [before, now] = [was.records[name], is.records[name]];
    // An inconclusive look says nothing about the record either.
    if (before.pass === null || now.pass === null) return [];
    const record = { what: `${name}_record` as const, from: before.record, to: now.record, nullable: true };
    return [{ what: name, from: before.status, to: now.status }, record];
  });
}

function listingPairs(was: BlacklistAnswer, is: BlacklistAnswer): readonly Pair[] {
  const lists = ({ listed, lists: names, found }: BlacklistAnswer) =>
    listed === null
      ? null
      : listed
        ? [...names].sort().join(', ') || (found === null ? 'some lists' : counted(found, 'list'))
        : 'none';
  return [{ what: 'listing', from: lists(was), to: lists(is) }];
}

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
      ...{ verdict, at: now },
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
