// A person's change of a mailbox: planned here, carried out by the guard's own actor, recorded with the person's name.
import type { Action, Person } from '../model/action.ts';
import { actionAfter } from '../model/action-transition.ts';
import type { MailboxState } from '../model/mailbox.ts';
import type { Verdict } from '../model/verdict.ts';
import { writesAreOff } from '../model/write-scope.ts';
import type { RecorderRooms } from './guarded-account.ts';
import { actionId, isActive, plannedAction, type WantedChange } from './plan.ts';

/** What a person wants changed, and who they are. */
export type PersonsChange = WantedChange & { readonly by: Person };

/** Why a change is dropped that would take back what is no longer ours. */
export const changedByOthers = 'not changed, because somebody else has changed it since';

/** Whether we still claim what an action of ours changed, on what was seen last. */
export function isClaimed(actionId: string, { memory, warmup }: MailboxState): boolean {
  const claim = memory?.claim;
  if (claim?.actionId !== actionId) return false;
  // The memory knows of another mode once it is judged; the look shows it before.
  return claim.kind === 'pause' || warmup?.answer.mode === 'recovery';
}

/**
 * Plans a person's change. What the guard had planned gives way to it; a POST that may be under way does not. A sentence
 * that says why instead, when nothing may be written or the mailbox is gone.
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
    const off = fleet.writesOffOver(account, id, now);
    if (off) return writesAreOff(off, world.command);
    const current = mailbox.action;
    if (isActive(current) && (current.state === 'open' || current.by)) {
      return `Another change of ${email} is in progress. Try again in a minute.`;
    }
    if (change.undoes !== undefined && !isClaimed(change.undoes, mailbox)) return `${email}: ${changedByOthers}.`;
    const detail = `${change.by.name} requested something else`;
    const displaced = isActive(current) ? [actionAfter(current, { kind: 'dropped', detail, at: now })] : [];
    const verdict = mailbox.verdict?.answer ?? notJudgedYet(mailbox);
    const planned = plannedAction(mailbox, change, { verdict, now, newId: () => actionId(now, world.random()) });
    await store.recordActions([...displaced, planned]);
    for (const action of [...displaced, planned]) fleet.putAction(action);
    fleet.putMailbox({ ...mailbox, action: planned });
    return planned;
  });
}

/** A person need not wait for the first verdict. */
function notJudgedYet({ warmup }: MailboxState): Verdict {
  return {
    action: 'none',
    reason: 'no_data',
    wanted: 'none',
    mode: warmup?.answer.mode ?? null,
    run: 'unknown',
    sent: 0,
    bounced: 0,
    limitPpm: null,
    windowFrom: null,
    windowTo: null,
    windowDays: 0,
    emergency: null,
    bouncesUntilBreach: null,
    restore: null,
    dataAgeMs: 0,
    warnings: [],
  };
}
