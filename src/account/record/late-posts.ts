// A POST that comes late: the process that was about to send it was frozen or killed, a standby took over and saw no
// change, and then the change comes after all. It is ours and nobody else's, but what was wanted since goes before it. Pure.

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

/** More than a mailbox ever has: each stands for a process that ended within a POST. */
const unseenKept = 10;

/** A late POST that an answer shows, and what follows from it. */
export interface LatePost {
  readonly post: OpenAction;
  /** The mailbox with the answer taken in. */
  readonly mailbox: MailboxState;
  /** Actions that it settled, dropped or planned, in this order. */
  readonly actions: readonly Action[];
  /** The newer change that it undid; null: it undid none. */
  readonly undid: Action | null;
  /** What sends that change again; null: nothing does. */
  readonly repeat: PlannedAction | null;
}

export interface LateContext {
  readonly policy: Policy;
  readonly words: StatusWords;
  readonly now: EpochMs;
  readonly newId: () => string;
  /** The newest actions on the mailbox, as far as they are at hand. */
  readonly actionsOf: (mailbox: MailboxState) => readonly Action[];
}

/** The memory after a try that did not show the change: where another process was to send it, it may come late. */
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

/** The memory once the change of an action shows. Where each of its POSTs was an unseen one, one of them has come. */
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

/** The late POST that the answer shows, when this is one: the look before did not show its change. */
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

/** Two answers, one after the other. */
export interface Looks {
  readonly was: WarmupAnswer;
  readonly is: WarmupAnswer;
  readonly words: StatusWords;
}

/** Whether the newer answer shows the change of the action, and the older one did not. */
export function isNew(action: Action, { was, is, words }: Looks): boolean {
  return showsChange(action, is, words) && !showsChange(action, was, words);
}

/** The last of the changes confirmed after the action was sent that the newer answer shows no more; null: there is none. */
export function undoneSince({ id, openedAt }: Action, actions: readonly Action[], looks: Looks): Action | null {
  const back = { ...looks, was: looks.is, is: looks.was };
  const [undid = null] = actions
    .filter((one) => one.id !== id && one.state === 'confirmed' && one.openedAt > (openedAt ?? 0))
    .filter((one) => isNew(one, back))
    .sort((a, b) => (b.settledAt ?? 0) - (a.settledAt ?? 0));
  return undid;
}

/** Whether a change between two looks is what the action does. A mode brings its own limit. */
export function isEffectOf({ what }: Change, { targetMode, targetLimit }: Action): boolean {
  if (targetLimit !== undefined) return what === 'target_daily_limit';
  return targetMode === null ? what === 'warm-up' : what === 'mode' || what === 'target_daily_limit';
}

/** A person's newer change is sent again. Of its own the guard decides again, on the evidence that it had. */
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

/** Nothing that we know speaks against it: it is as if it had been read back in time. */
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
  // A recovery that comes below a pause of ours.
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
