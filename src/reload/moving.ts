// Brings mailboxes under the accounts that guard them from now on, in the store and in the picture.
import type { AccountConfig } from '../config/config.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { bothChanges } from '../model/alert.ts';
import { type MailboxState, mailboxUnder } from '../model/mailbox.ts';
import { scopeKey } from '../model/write-scope.ts';
import type { RecorderRooms } from '../record/guarded-account.ts';
import { alertsMoved, alertsOfTaken } from '../record/guards.ts';
import { accountScope } from '../replicas/membership.ts';
import { takenNames } from '../store/known-accounts.ts';
import type { StoredPicture } from '../store/picture.ts';
import type { AccountMove } from '../store/records.ts';
import type { Duties } from './duties.ts';
import { knownAccount } from './moves.ts';

/** The loops of the accounts that they leave have ended. Rejects when the store can't be written: then nothing has moved. */
export async function moveMailboxes(
  { fleet, store, group, turns, world, onTransitions }: RecorderRooms,
  { moves, accounts }: { readonly moves: readonly AccountMove[]; readonly accounts: readonly AccountConfig[] },
  duties: Pick<Duties, 'watchOf'>,
): Promise<void> {
  const { membership } = store;
  await turns.take(async () => {
    await group.commit();
    // What another replica guards goes on there; lists find the rest by the ids.
    const ours = moves.filter(({ from }) => membership.self === null || membership.holds(accountScope(from)));
    const now = world.clock.now();
    const taken = takenNames(ours, await store.accounts.known());
    const ofMoved = ours
      .map((move) => alertsMoved(fleet, { ...move, ids: move.ids && new Set(move.ids) }, now))
      .reduce(bothChanges, { changed: [], dropped: [], transitions: [] });
    const alerts = alertsOfTaken(
      taken.flatMap((name) => [...fleet.alertsOf(name)]),
      ofMoved,
      now,
    );
    await store.accounts.record({ accounts: accounts.map(knownAccount), moves: ours, alerts });
    if (ours.length === 0) return;
    const moved = ours.map((move) => ({ ...move, mailboxes: movedMailboxes(fleet, move) }));
    for (const name of taken) fleet.clearAccount(name);
    for (const { from, mailboxes } of moved) for (const { id } of mailboxes) fleet.removeMailbox(from, id);
    for (const { to, mailboxes } of moved) {
      for (const mailbox of mailboxes) fleet.putMailbox(mailbox);
      await duties.watchOf(to)?.adopt(mailboxes);
    }
    showShared(fleet, await store.loadPicture([]));
    fleet.putAlerts(alerts);
    if (alerts.transitions.length > 0) onTransitions();
  });
}

function movedMailboxes(fleet: Fleet, { from, to, ids }: AccountMove): readonly MailboxState[] {
  const theirs = [...fleet.mailboxesOf(from)].filter(({ id }) => ids?.includes(id) ?? true);
  return theirs.map((mailbox) => mailboxUnder(mailbox, to));
}

/** Shows as stored what belongs to no one account's loop: breakers, emergency stops, the newest actions. */
function showShared(fleet: Fleet, picture: StoredPicture): void {
  for (const { api, state } of picture.breakers) fleet.putBreaker(api, state);
  for (const { scope } of [...fleet.knownWritesOff()]) fleet.removeWritesOff(scopeKey(scope));
  for (const off of picture.writesOff) fleet.putWritesOff(off);
  for (const action of picture.actions) fleet.putAction(action);
}
