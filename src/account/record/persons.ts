// A person's change of a mailbox: planned here, carried out by the guard's own actor, recorded with the person's name.

import type { Action, Person } from '../../core/action.ts';
import { actionAfter } from '../../core/action-transition.ts';
import { verdictWithoutCounts } from '../../core/guard/verdict.ts';
import type { MailboxState } from '../../core/mailbox.ts';
import { isWarmupMode, maxPerDay } from '../../core/policy.ts';
import type { Verdict } from '../../core/verdict.ts';
import { writesAreOff } from '../../core/write-scope.ts';
import type { World } from '../../world/world.ts';
import type { RecorderRooms } from './guarded-account.ts';
import { actionId, isActive, isPending, plannedAction, type WantedChange } from './plan.ts';

/** What a person wants changed, and who they are. */
export type PersonsChange = WantedChange & { readonly by: Person };

/** Why a change is dropped that would take back what is no longer ours. */
export const changedByOthers = 'not changed, because somebody else has changed it since';

/** Whether what a change takes back still stands, on what was seen last. A change that takes nothing back always may be made. */
export function mayTakeBack(
  { undoes, undoesLimit }: Pick<Action, 'undoes' | 'undoesLimit'>,
  { memory, warmup }: MailboxState,
): boolean {
  if (undoesLimit !== undefined) return warmup?.answer.config.targetDailyLimit === undoesLimit;
  if (undoes === undefined) return true;
  const claim = memory?.claim;
  if (claim?.actionId !== undoes) return false;
  // The memory knows of another mode once it is judged; the look shows it before.
  return claim.kind === 'pause' || warmup?.answer.mode === 'recovery';
}

/**
 * Why the target daily limit that a change sets is refused, in a sentence: it is above what the mode allows. null: it is
 * not, or the mode is unknown, so that only the API can say.
 */
export function aboveMaximum(
  { targetLimit }: Pick<Action, 'targetLimit'>,
  { warmup }: Pick<MailboxState, 'warmup'>,
): string | null {
  const mode = warmup?.answer.mode ?? null;
  if (targetLimit === undefined || !isWarmupMode(mode) || targetLimit <= maxPerDay[mode]) return null;
  return `${targetLimit} emails a day is above the maximum of ${mode} mode, which is ${maxPerDay[mode]} emails a day`;
}

/**
 * Plans a person's change. What the guard had planned gives way to it, unless it is a limit: that settles nothing that
 * the guard acts on. A POST that may be under way does not give way. A sentence that says why instead, when nothing may
 * be written or the mailbox is gone.
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
    const pending = isPending(current) ? current : null;
    const gone = pending ? [actionAfter(pending, { kind: 'dropped', detail, at: now })] : [];
    const verdict = mailbox.verdict?.answer ?? notJudgedYet(mailbox);
    const wanted = pending ? { ...change, displaced: pending } : change;
    const planned = plannedAction(mailbox, wanted, { verdict, now, newId: () => actionId(now, world.random()) });
    await store.recordActions([...gone, planned]);
    for (const action of [...gone, planned]) fleet.putAction(action);
    fleet.putMailbox({ ...mailbox, action: planned });
    return planned;
  });
}

/**
 * An action after an event, and behind it the guard's own whose place it had taken: that one comes back, with its tries and
 * its next try, when the person's change came to an end and was not read back.
 */
export function withDisplaced(action: Action, { clock, random }: Pick<World, 'clock' | 'random'>): readonly Action[] {
  const { displaced, ...rest } = action;
  if (!displaced || isActive(action)) return [action];
  const ended = rest as Action;
  if (ended.state === 'confirmed') return [ended];
  const now = clock.now();
  // The newest action is the one that the mailbox is loaded with.
  const dataAgeMs = displaced.verdict.dataAgeMs + Math.max(0, now - displaced.plannedAt);
  const verdict = { ...displaced.verdict, dataAgeMs };
  return [ended, { ...displaced, id: actionId(now, random()), plannedAt: now, verdict }];
}

/** Why a change is not even planned, in a sentence; null where it is. A dry run says the same. */
export function refusalOf(
  { fleet, world }: Pick<RecorderRooms, 'fleet' | 'world'>,
  mailbox: MailboxState,
  change: Omit<WantedChange, 'by'>,
): string | null {
  const { account, id, email, action } = mailbox;
  const off = fleet.writesOffOver(account, id, world.clock.now());
  if (off) return writesAreOff(off, world.command);
  const obstacle = obstacleTo(change, action, email);
  if (obstacle !== null) return obstacle;
  return mayTakeBack(change, mailbox) ? null : `${email}: ${changedByOthers}.`;
}

/** The action that a person's change may not displace, in a sentence; null where there is none. */
function obstacleTo({ kind }: Pick<WantedChange, 'kind'>, current: Action | null, email: string): string | null {
  if (!isActive(current)) return null;
  const waits = current.state === 'refused' || current.state === 'unconfirmed';
  if (kind === 'limit' && waits)
    return `${email}: the last action of Warmwarden has not taken effect. Pause the warm-up or set the mode first.`;
  if (kind !== 'limit' && !current.by && current.state !== 'open') return null;
  return `Another change of ${email} is in progress. Try again in a minute.`;
}

/** The verdict on a mailbox that has none yet: a person need not wait for the first one. */
function notJudgedYet({ warmup }: MailboxState): Verdict {
  return verdictWithoutCounts({ reason: 'no_data', mode: warmup?.answer.mode ?? null, run: 'unknown', dataAgeMs: 0 });
}
