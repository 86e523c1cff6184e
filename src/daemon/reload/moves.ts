// Moves of a change of configuration, before a reload and at a start: accounts that are renamed, and mailboxes that go
// on under another account. Pure.

import { createHash } from 'node:crypto';
import type { RecorderRooms } from '../../account/record/guarded-account.ts';
import { alertsMoved, alertsOfTaken } from '../../account/record/guards.ts';
import type { AccountConfig, Config } from '../../config/config.ts';
import { selects } from '../../config/mailbox-rules.ts';
import { bothChanges } from '../../core/alert.ts';
import type { Fleet } from '../../core/fleet/fleet.ts';
import { type MailboxState, mailboxUnder } from '../../core/mailbox.ts';
import type { EpochMs } from '../../core/time.ts';
import { counted, firstText } from '../../core/wording/phrases.ts';
import { takenNames } from '../../store/accounts.ts';
import type { AccountMove, KnownAccount } from '../../store/records.ts';
import { showShared } from '../picture.ts';
import type { Duties } from './duties.ts';

export function knownAccount({ name, baseUrl, apiKey }: AccountConfig): KnownAccount {
  return { name, api: baseUrl, digest: createHash('sha256').update(`${baseUrl} ${apiKey}`).digest('base64url') };
}

/** Accounts that go on under another name, recognized by the same base_url and key. */
export function renamesOf(before: readonly KnownAccount[], after: readonly KnownAccount[]): readonly AccountMove[] {
  return after.flatMap(({ name, digest }) => {
    const isSame = (one: KnownAccount) => one.digest === digest;
    const [from, ...others] = before.filter(isSame);
    const isOnly = others.length === 0 && after.filter(isSame).length === 1;
    return from && isOnly && from.name !== name ? [{ from: from.name, to: name, ids: null }] : [];
  });
}

/**
 * Moves of a change of configuration: renamed accounts, and mailboxes of removed accounts that another account lists.
 */
export function movesOf(before: Config, after: Config, fleet: Fleet): readonly AccountMove[] {
  const renames = renamesOf(before.accounts.map(knownAccount), after.accounts.map(knownAccount));
  const stay = new Set([...after.accounts.map(({ name }) => name), ...renames.map(({ from }) => from)]);
  const gone = before.accounts.filter(({ name }) => !stay.has(name));
  const takeovers = gone.flatMap(({ name: from, baseUrl }) => {
    const left = new Set([...fleet.mailboxesOf(from)].map(({ id }) => id));
    return after.accounts.flatMap((account) => {
      if (account.baseUrl !== baseUrl) return [];
      const seen = fleet.account(account.name)?.guardedElsewhere ?? [];
      const theirs = seen.filter((one) => one.account === from && left.has(one.id) && selects(account, one));
      for (const { id } of theirs) left.delete(id);
      return theirs.length === 0 ? [] : [{ from, to: account.name, ids: theirs.map(({ id }) => id) }];
    });
  });
  return [...renames, ...takeovers];
}

/** True if a mailbox goes on under another account. */
export function isMoved(moves: readonly AccountMove[], { account, id }: Pick<MailboxState, 'account' | 'id'>): boolean {
  return moves.some(({ from, ids }) => from === account && (ids?.includes(id) ?? true));
}

const keep = 'history, claims and alerts';

export function movesText(moves: readonly AccountMove[], fleet: Fleet, now: EpochMs): readonly string[] {
  return moves.flatMap(({ from, to, ids }) => {
    const count = counted(ids?.length ?? fleet.mailboxCount(from), 'mailbox', 'mailboxes');
    if (ids === null) return [`account ${from} is now called ${to}: its ${count} keep their ${keep}`];
    const off = fleet.writesOff(now).find(({ scope }) => scope.kind === 'account' && scope.account === from);
    return [
      `account ${to} now guards ${count} of account ${from}, with their ${keep}`,
      ...(off ? [`writes stay off for them, because they are off for account ${from} (${off.by}: ${off.reason})`] : []),
    ];
  });
}

/** Largest number of mailboxes that a sentence names. */
const named = 10;

/** Sentence about mailboxes that Warmwarden changed, no longer guards, and leaves as they are. */
export function leftChangedText(dropped: readonly MailboxState[]): readonly string[] {
  const changed = dropped.filter(({ memory }) => memory?.claim);
  if (changed.length === 0) return [];
  const names = changed.map(({ account, email }) => `${account}/${email}`);
  return [
    `Warmwarden leaves as they are, in recovery mode or paused, ${counted(changed.length, 'mailbox', 'mailboxes')} that it changed: ${firstText(names, named)}`,
  ];
}

// Moves mailboxes to the accounts that guard them from now on, in the store and in the picture.

/**
 * Moves mailboxes after the loops of their former accounts have ended. Rejects if the store can't be written: nothing
 * has moved in that case.
 */
export async function moveMailboxes(
  { fleet, store, group, turns, world, onTransitions }: RecorderRooms,
  { moves, accounts }: { readonly moves: readonly AccountMove[]; readonly accounts: readonly AccountConfig[] },
  duties: Pick<Duties, 'watchOf'>,
): Promise<void> {
  await turns.take(async () => {
    await group.commit();
    const now = world.clock.now();
    const taken = takenNames(moves, await store.knownAccounts());
    const ofMoved = moves
      .map((move) => alertsMoved(fleet, { ...move, ids: move.ids && new Set(move.ids) }, now))
      .reduce(bothChanges, { changed: [], dropped: [], transitions: [] });
    const alerts = alertsOfTaken(
      taken.flatMap((name) => [...fleet.alertsOf(name)]),
      ofMoved,
      now,
    );
    await store.recordAccounts({ accounts: accounts.map(knownAccount), moves, alerts });
    if (moves.length === 0) return;
    const moved = moves.map((move) => ({ ...move, mailboxes: movedMailboxes(fleet, move) }));
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
