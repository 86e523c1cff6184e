// Which accounts got another name, and whose mailboxes another account goes on with: before a reload, and at a start. Pure.

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
import { scopeKey } from '../../core/write-scope.ts';
import { takenNames } from '../../store/known-accounts.ts';
import type { StoredPicture } from '../../store/picture.ts';
import type { AccountMove, KnownAccount } from '../../store/records.ts';
import type { Duties } from './duties.ts';

export function knownAccount({ name, baseUrl, apiKey }: AccountConfig): KnownAccount {
  return { name, api: baseUrl, digest: createHash('sha256').update(`${baseUrl} ${apiKey}`).digest('base64url') };
}

/**
 * Accounts that go on under another name: with the same base_url and key, or, where two configured accounts have each other's
 * base_url now, with the base_url.
 */
export function renamesOf(before: readonly KnownAccount[], after: readonly KnownAccount[]): readonly AccountMove[] {
  const was = new Map(before.map((account) => [account.name, account]));
  const moves: AccountMove[] = [];
  const match = (of: 'digest' | 'api', earlier: readonly KnownAccount[], now: readonly KnownAccount[]) => {
    for (const account of now) {
      const [from, ...others] = earlier.filter((one) => one[of] === account[of]);
      const isOnly = others.length === 0 && now.filter((one) => one[of] === account[of]).length === 1;
      if (from && isOnly && from.name !== account.name) moves.push({ from: from.name, to: account.name, ids: null });
    }
  };
  match('digest', before, after);
  const isOpen = ({ name }: KnownAccount) => moves.every(({ from, to }) => from !== name && to !== name);
  const swapped = after.filter((account) => isOpen(account) && swapsWith(account, was, after) !== null);
  const names = new Set(swapped.map(({ name }) => name));
  match(
    'api',
    before.filter(({ name }) => names.has(name)),
    swapped,
  );
  return moves;
}

/** The account whose base_url this one has now, and that has another one itself; null: none. */
function swapsWith(
  { name, api }: KnownAccount,
  was: ReadonlyMap<string, KnownAccount>,
  after: readonly KnownAccount[],
): string | null {
  const own = was.get(name);
  if (!own || own.api === api) return null;
  const other = after.find((one) => one.name !== name && was.get(one.name)?.api === api && one.api !== api);
  return other?.name ?? null;
}

/** Accounts that have the base_urls of one another, more likely by mistake. */
export function swappedAccounts(before: Config, after: Config): readonly string[] {
  const was = new Map(before.accounts.map((account) => [account.name, knownAccount(account)]));
  const now = after.accounts.map(knownAccount);
  return now.filter((account) => swapsWith(account, was, now) !== null).map(({ name }) => name);
}

/** Moves of a change of configuration: accounts that get another name, and mailboxes of removed accounts that another account lists. */
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

/** Whether a mailbox goes on under another account. */
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

/** Most mailboxes that a sentence names. */
const named = 10;

/** A sentence about mailboxes that Warmwarden changed, guards no more, and leaves as they are. */
export function leftChangedText(dropped: readonly MailboxState[]): readonly string[] {
  const changed = dropped.filter(({ memory }) => memory?.claim);
  if (changed.length === 0) return [];
  const names = changed.map(({ account, email }) => `${account}/${email}`);
  return [
    `Warmwarden leaves as they are, in recovery mode or paused, ${counted(changed.length, 'mailbox', 'mailboxes')} that it changed: ${firstText(names, named)}`,
  ];
}

// Brings mailboxes under the accounts that guard them from now on, in the store and in the picture.

/** The loops of the accounts that they leave have ended. Rejects when the store can't be written: then nothing has moved. */
export async function moveMailboxes(
  { fleet, store, group, turns, world, onTransitions }: RecorderRooms,
  { moves, accounts }: { readonly moves: readonly AccountMove[]; readonly accounts: readonly AccountConfig[] },
  duties: Pick<Duties, 'watchOf'>,
): Promise<void> {
  await turns.take(async () => {
    await group.commit();
    const now = world.clock.now();
    const taken = takenNames(moves, await store.accounts.known());
    const ofMoved = moves
      .map((move) => alertsMoved(fleet, { ...move, ids: move.ids && new Set(move.ids) }, now))
      .reduce(bothChanges, { changed: [], dropped: [], transitions: [] });
    const alerts = alertsOfTaken(
      taken.flatMap((name) => [...fleet.alertsOf(name)]),
      ofMoved,
      now,
    );
    await store.accounts.record({ accounts: accounts.map(knownAccount), moves: moves, alerts });
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

/** Shows as stored what belongs to no one account's loop: breakers, emergency stops, the newest actions. */
function showShared(fleet: Fleet, picture: StoredPicture): void {
  for (const { api, state } of picture.breakers) fleet.putBreaker(api, state);
  for (const { scope } of [...fleet.knownWritesOff()]) fleet.removeWritesOff(scopeKey(scope));
  for (const off of picture.writesOff) fleet.putWritesOff(off);
  for (const action of picture.actions) fleet.putAction(action);
}
