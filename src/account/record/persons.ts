// A person's change of a mailbox: planned here, carried out by the guard's own actor, recorded with the person's name.

import { type Action, actionAfter, hasSettings, leavesGuardAlone, type Person } from '../../core/action.ts';
import { verdictWithoutCounts } from '../../core/guard/judge.ts';
import type { MailboxState } from '../../core/mailbox.ts';
import { isWarmupMode, maxPerDay } from '../../core/policy.ts';
import { writesAreOff } from '../../core/write-scope.ts';
import type { World } from '../../world/world.ts';
import type { RecorderRooms } from './guarded-account.ts';
import { actionId, isActive, isWaiting, plannedAction, type WantedChange } from './plan.ts';

export type PersonsChange = WantedChange & { readonly by: Person };

export const changedSince = 'not changed, because it has been changed or reversed since';

/** Returns true if the last look still shows what the change takes back, or if it takes nothing back. */
export function mayTakeBack(
  { undoes, undoesLimit, undoesSettings }: Pick<Action, 'undoes' | 'undoesLimit' | 'undoesSettings'>,
  { memory, warmup }: MailboxState,
): boolean {
  if (undoesLimit !== undefined) return warmup?.answer.config.targetDailyLimit === undoesLimit;
  if (undoesSettings !== undefined) return warmup !== null && hasSettings(warmup.answer.config, undoesSettings);
  if (undoes === undefined) return true;
  const claim = memory?.claim;
  if (claim?.actionId !== undoes) return false;
  // The look shows another mode before the memory does, which learns of it at the next judgement.
  return claim.kind === 'pause' || warmup?.answer.mode === 'recovery';
}

/** Returns a sentence if the limit exceeds the mode's maximum, or null. In an unknown mode only the API can tell. */
export function aboveMaximum(
  { targetLimit }: Pick<Action, 'targetLimit'>,
  { warmup }: Pick<MailboxState, 'warmup'>,
): string | null {
  const mode = warmup?.answer.mode ?? null;
  if (targetLimit === undefined || !isWarmupMode(mode) || targetLimit <= maxPerDay[mode]) return null;
  return `${targetLimit} emails a day is above the maximum of ${mode} mode, which is ${maxPerDay[mode]} emails a day`;
}

/**
 * Displaces the guard's planned action, but never a POST that may be in progress. A limit or another setting displaces
 * nothing, as it resolves no breach. Returns a sentence if the change cannot be planned.
 */
export function planForPerson(
  rooms: RecorderRooms,
  { account, id, email }: MailboxState,
  change: PersonsChange,
): Promise<Action | string> {
  const { fleet, store, turns, world } = rooms;
  return turns.take(async () => {
    const now = world.clock.now();
    const mailbox = fleet.mailbox(account, id);
    if (!mailbox) return `${email} is no longer on the account.`;
    const refusal = refusalOf(rooms, mailbox, change);
    if (refusal !== null) return refusal;
    const current = mailbox.action;
    const detail = `${change.by.name} requested something else`;
    const waiting = isWaiting(current) ? current : null;
    const gone = waiting ? [actionAfter(waiting, { kind: 'dropped', detail, at: now })] : [];
    const mode = mailbox.warmup?.answer.mode ?? null;
    const unjudged = () => verdictWithoutCounts({ reason: 'no_data', mode, run: 'unknown', dataAgeMs: 0 });
    const verdict = mailbox.verdict?.answer ?? unjudged();
    const wanted = waiting ? { ...change, displaced: waiting } : change;
    const planned = plannedAction(mailbox, wanted, { verdict, now, newId: () => actionId(now, world.random()) });
    await store.recordActions([...gone, planned]);
    for (const action of [...gone, planned]) fleet.putAction(action);
    fleet.putMailbox({ ...mailbox, action: planned });
    return planned;
  });
}

/**
 * Returns an action after an event, followed by the guard's own action that it had displaced. The displaced action
 * returns, with its attempts and its next attempt, if the person's change ended without a read-back.
 */
export function withDisplaced(action: Action, { clock, random }: Pick<World, 'clock' | 'random'>): readonly Action[] {
  const { displaced, ...rest } = action;
  if (!displaced || isActive(action)) return [action];
  const ended = rest as Action;
  if (ended.state === 'confirmed') return [ended];
  const now = clock.now();
  const dataAgeMs = displaced.verdict.dataAgeMs + Math.max(0, now - displaced.plannedAt);
  const verdict = { ...displaced.verdict, dataAgeMs };
  // A new id: a start loads a mailbox with its newest action.
  return [ended, { ...displaced, id: actionId(now, random()), plannedAt: now, verdict }];
}

/** Returns a sentence if a change cannot be planned, or null. A dry run gives the same sentence. */
export function refusalOf(
  { fleet, world }: Pick<RecorderRooms, 'fleet' | 'world'>,
  mailbox: MailboxState,
  change: Omit<WantedChange, 'by'>,
): string | null {
  const { account, id, email, action } = mailbox;
  const off = fleet.writesOffOver(account, id, world.clock.now());
  if (off) return writesAreOff(off);
  const obstacle = obstacleTo(change, action, email);
  if (obstacle !== null) return obstacle;
  const reason = mayTakeBack(change, mailbox) ? aboveMaximum(change, mailbox) : changedSince;
  return reason === null ? null : `${email}: ${reason}.`;
}

/** Returns a sentence about the action that a person's change may not displace, or null if there is none. */
function obstacleTo({ kind }: Pick<WantedChange, 'kind'>, current: Action | null, email: string): string | null {
  if (!isActive(current)) return null;
  const waits = current.state === 'refused' || current.state === 'unconfirmed';
  if (leavesGuardAlone(kind) && waits)
    return `${email}: the last action of Warmwarden has not taken effect. Pause the warm-up or set the mode first.`;
  if (!leavesGuardAlone(kind) && !current.by && current.state !== 'open') return null;
  return `Another change of ${email} is in progress. Try again in a minute.`;
}
