// Late POSTs: a process was frozen or killed just before it sent a POST, a standby took over and saw no change, and
// then the change appears. The change is ours, but newer wishes take precedence. Pure.

import { type Action, isGuardActionKind, type OpenAction, type PlannedAction } from '../../core/action.ts';
import { actionAfter, type Unsuccessful } from '../../core/action-transition.ts';
import type { WarmupAnswer } from '../../core/answers.ts';
import type { Change } from '../../core/change.ts';
import { afterConfirmed, afterOperatorChange, afterOwnLateChange, type Sight } from '../../core/guard/memory.ts';
import { runStateOf, type StatusWords } from '../../core/guard/run-state.ts';
import { type GuardMemory, mayStillCome, type UnseenPost } from '../../core/guard-memory.ts';
import type { MailboxState } from '../../core/mailbox.ts';
import type { Policy } from '../../core/policy.ts';
import type { EpochMs } from '../../core/time.ts';
import type { Observation } from './observe.ts';
import { isPending, plannedAction, showsChange } from './plan.ts';

/**
 * Maximum number of unseen POSTs of a mailbox. Each stands for a process that ended during a POST, so there are never
 * as many.
 */
const unseenKept = 10;

/** A late POST that an answer shows, and its consequences. */
export interface LatePost {
  readonly post: OpenAction;
  /** The mailbox after the answer. */
  readonly mailbox: MailboxState;
  /** Actions that the POST settled, dropped or planned, in this order. */
  readonly actions: readonly Action[];
  /** Newer change that the POST undid, or null if it undid none. */
  readonly undid: Action | null;
  /** Action that sends the undone change again, or null if there is none. */
  readonly repeat: PlannedAction | null;
}

export interface LateContext {
  readonly policy: Policy;
  readonly words: StatusWords;
  readonly now: EpochMs;
  readonly newId: () => string;
  /** The newest actions on the mailbox that are in memory. */
  readonly actionsOf: (mailbox: MailboxState) => readonly Action[];
}

/**
 * Returns the memory after an attempt without a visible change. The POST may come late if it was another process's to
 * send.
 */
export function memoryAfter(
  { kind, mayComeLate = false }: Pick<Unsuccessful, 'kind' | 'mayComeLate'>,
  memory: GuardMemory | null,
  action: OpenAction,
  now: EpochMs,
): GuardMemory | null {
  if (memory === null || kind !== 'unseen' || !mayComeLate) return memory;
  const expected = (memory.unseenPosts ?? []).filter((one) => mayStillCome(one, now));
  return { ...memory, unseenPosts: [...expected, { action, at: now }].slice(-unseenKept) };
}

/** Returns the memory after the change of an action shows. If all of its POSTs were unseen, one of them has arrived. */
export function withoutLanded(memory: GuardMemory, { id, attempts }: Action): GuardMemory {
  const { unseenPosts = [], ...rest } = memory;
  const own = unseenPosts.filter(({ action }) => action.id === id);
  const [landed] = own;
  return landed && own.length >= attempts ? without(rest, unseenPosts, landed) : memory;
}

function without(memory: GuardMemory, posts: readonly UnseenPost[], landed: UnseenPost): GuardMemory {
  const { unseenPosts: _, ...rest } = memory;
  const left = posts.filter((one) => one !== landed);
  return left.length === 0 ? rest : { ...rest, unseenPosts: left };
}

/** Returns the late POST that the answer shows, or null. The last look must not have shown its change. */
export function latePostIn(before: MailboxState, observation: Observation, context: LateContext): LatePost | null {
  const { memory, warmup } = before;
  if (observation.route !== 'warmup' || !memory?.unseenPosts || !warmup) return null;
  const { observed } = observation;
  const { words, now } = context;
  const looks = { was: warmup.answer, is: observed.answer, words };
  const landed = memory.unseenPosts.find((one) => mayStillCome(one, now) && isNew(one.action, looks));
  if (!landed) return null;
  const { action: post } = landed;
  const seen = { ...before, warmup: observed, memory: without(memory, memory.unseenPosts, landed) };
  const undid = undoneSince(post, context.actionsOf(before), looks);
  return undid ? undone(seen, post, undid, context) : owned(seen, post, context);
}

/** Two consecutive answers. */
export interface Looks {
  readonly was: WarmupAnswer;
  readonly is: WarmupAnswer;
  readonly words: StatusWords;
}

/** Returns true if the newer answer shows the change of the action and the older one does not. */
export function isNew(action: Action, { was, is, words }: Looks): boolean {
  return showsChange(action, is, words) && !showsChange(action, was, words);
}

/**
 * Returns the last change that was confirmed after the action was sent and that the newer answer no longer shows, or
 * null if there is none.
 */
export function undoneSince({ id, openedAt }: Action, actions: readonly Action[], looks: Looks): Action | null {
  const back = { ...looks, was: looks.is, is: looks.was };
  const [undid = null] = actions
    .filter((one) => one.id !== id && one.state === 'confirmed' && one.openedAt > (openedAt ?? 0))
    .filter((one) => isNew(one, back))
    .sort((a, b) => (b.settledAt ?? 0) - (a.settledAt ?? 0));
  return undid;
}

/** Returns true if a change between two looks is the effect of the action. A mode brings its own limit. */
export function isEffectOf({ what }: Change, { targetMode, targetLimit }: Action): boolean {
  if (targetLimit !== undefined) return what === 'target_daily_limit';
  return targetMode === null ? what === 'warm-up' : what === 'mode' || what === 'target_daily_limit';
}

/**
 * Handles a late POST that undid a newer change. A person's change is sent again; the guard decides anew, on the
 * evidence that it had.
 */
function undone(
  seen: MailboxState & { readonly memory: GuardMemory },
  post: OpenAction,
  undid: Action,
  { words, now, newId }: LateContext,
): LatePost {
  const mailbox = { ...seen, memory: afterOwnLateChange(seen.memory, sightOf(seen, words, now)) };
  const verdict = seen.verdict?.answer;
  const current = seen.action;
  const isBusy = current?.state === 'open' || (current?.state === 'planned' && current.by !== null);
  if (!undid.by || !verdict || isBusy) return { post, mailbox, actions: [], undid, repeat: null };
  const { kind, targetMode, targetLimit, by } = undid;
  const pending = isPending(current) ? current : null;
  const displaced = pending && !pending.by ? { displaced: pending } : {};
  const change = { kind, targetMode, by, ...(targetLimit !== undefined && { targetLimit }), ...displaced };
  const repeat = plannedAction(mailbox, change, { verdict, now, newId });
  const detail = `${by?.name} had requested something else`;
  const gone = pending ? [actionAfter(pending, { kind: 'dropped', detail, at: now })] : [];
  return { post, mailbox: { ...mailbox, action: repeat }, actions: [...gone, repeat], undid, repeat };
}

/** Handles a late POST that undid nothing, as if it had been read back in time. */
function owned(
  seen: MailboxState & { readonly memory: GuardMemory },
  post: OpenAction,
  { policy, words, now, actionsOf }: LateContext,
): LatePost {
  const known = actionsOf(seen).find(({ id }) => id === post.id) ?? post;
  const settles = known.state === 'unconfirmed' || known.state === 'dropped' || known === post;
  const detail = 'a delayed request took effect';
  const settled = settles ? actionAfter(known, { kind: 'confirmed', detail, at: now }) : known;
  return {
    post,
    mailbox: {
      ...seen,
      memory: memoryOf(policy, seen, post, sightOf(seen, words, now)),
      action: seen.action?.id === post.id ? settled : seen.action,
    },
    actions: settles ? [settled] : [],
    undid: null,
    repeat: null,
  };
}

function memoryOf(
  policy: Policy,
  { memory, warmup }: MailboxState & { readonly memory: GuardMemory },
  { kind, id, before, by }: OpenAction,
  sight: Sight,
): GuardMemory {
  const done = { actionId: id, previousMode: before.mode, word: warmup?.answer.status ?? null };
  if (by || !isGuardActionKind(kind)) return afterOperatorChange(policy, memory, { ...done, kind }, sight);
  const after = afterConfirmed(memory, { ...done, kind }, sight);
  // The recovery is recorded below our newer pause.
  const isUnder = kind === 'recovery' && memory.claim?.kind === 'pause';
  return isUnder && memory.claim
    ? { ...after, run: memory.run, claim: { ...memory.claim, under: after.claim } }
    : after;
}

function sightOf({ warmup, stats }: MailboxState, words: StatusWords, now: EpochMs): Sight {
  const rows = stats?.answer.rows ?? null;
  const { mode = null, status = null } = warmup?.answer ?? {};
  return { mode, run: runStateOf(status, words, rows, now), rows, now };
}
