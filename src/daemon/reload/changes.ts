// Differences between two configurations, their effect, and the moves of mailboxes between accounts.
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { RecorderRooms } from '../../account/record/guarded-account.ts';
import { alertsOfMoves } from '../../account/record/rivals.ts';
import { isReadByPeople } from '../../alerts/routing.ts';
import type { AccountConfig, Config } from '../../config/config.ts';
import { selects } from '../../config/mailbox-rules.ts';
import { changesBetween, type Setting, type SettingChange } from '../../config/settings.ts';
import type { Fleet } from '../../core/fleet/fleet.ts';
import { type MailboxState, mailboxUnder } from '../../core/mailbox.ts';
import type { EpochMs } from '../../core/time.ts';
import { counted, firstText } from '../../core/wording/phrases.ts';
import { takenNames } from '../../store/accounts.ts';
import type { AccountMove, KnownAccount } from '../../store/writes.ts';
import { showShared } from '../picture.ts';
import { budgetKeyOf, type Duties } from './duties.ts';

export interface Impact {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Accounts whose polling changes (address, key, rate limit, cadence, status words): they start over. */
  readonly restarted: readonly string[];
  /** Accounts whose rules change (guard, overrides, selection): the rules apply to their next answers. */
  readonly changed: readonly string[];
}

/** Keys that are read once, at the start of the process. */
const startKeys = ['store', 'server.listen', 'server.public_url', 'log.format'];

/** A reload that drops a larger share of the known mailboxes looks like a mistake. */
const maxDroppedShare = 0.2;

export function impactOf(before: Config, after: Config): Impact {
  const names = (config: Config) => config.accounts.map(({ name }) => name);
  const old = new Map(before.accounts.map((account) => [account.name, account]));
  const isShared = isDeepStrictEqual([before.poll, before.api], [after.poll, after.api]);
  const stayed = after.accounts.flatMap((account) => {
    const was = old.get(account.name);
    return was ? [{ name: account.name, was, account }] : [];
  });
  const restarted = stayed.filter(
    ({ was, account }) => !isShared || !isDeepStrictEqual(connectionOf(was), connectionOf(account)),
  );
  const changed = stayed.filter((one) => !restarted.includes(one) && !isDeepStrictEqual(one.was, one.account));
  return {
    added: names(after).filter((name) => !old.has(name)),
    removed: names(before).filter((name) => !names(after).includes(name)),
    restarted: restarted.map(({ name }) => name),
    changed: changed.map(({ name }) => name),
  };
}

/** Returns the account without its rules and its tags. */
function connectionOf({ guard: _g, overrides: _o, mailboxes: _m, tags: _t, ...connection }: AccountConfig) {
  return connection;
}

function droppedBy(after: Config, fleet: Fleet, moves: readonly AccountMove[]): readonly MailboxState[] {
  const accounts = new Map(after.accounts.map((account) => [account.name, account]));
  const isMoved = isMovedBy(moves);
  return [...fleet.mailboxes()].filter((mailbox) => {
    const account = accounts.get(mailbox.account);
    return !isMoved(mailbox) && (!account || !selects(account, mailbox));
  });
}

/** Removals by the configuration that are likely mistakes, as parts of sentences. */
export function mistakesIn({ before, after, moves }: ConfigChange, fleet: Fleet): readonly string[] {
  const dropped = droppedBy(after, fleet, moves).length;
  const channels = lastChannelsGone(before, after);
  const mailboxes = counted(fleet.mailboxCount(), 'guarded mailbox', 'guarded mailboxes');
  const removed = `the ${channels.length === 1 ? 'channel' : 'channels'} ${channels.join(', ')}`;
  return [
    ...(dropped > fleet.mailboxCount() * maxDroppedShare ? [`removes ${dropped} of ${mailboxes}`] : []),
    ...(channels.length > 0 ? [`removes ${removed}, and ${nobodyNotified}`] : []),
  ];
}

export const nobodyNotified = 'no channel is left that can notify you';

/** Returns channels if `after` removes the last one that people read; else none. */
export function lastChannelsGone(before: Config, after: Config): readonly string[] {
  const read = ({ alerts }: Config) => alerts.channels.filter(isReadByPeople).map(({ name }) => name);
  return read(after).length === 0 ? read(before) : [];
}

/** Compares with the settings at the start of the process. */
export function needingRestart(started: readonly Setting[], after: readonly Setting[]): readonly SettingChange[] {
  // A certificate can be renewed while the server runs; a change between http and https needs a restart.
  const keys = hasTls(started) === hasTls(after) ? startKeys : [...startKeys, 'server.tls'];
  return changesBetween(started, after).filter(({ name }) =>
    keys.some((key) => name === key || name.startsWith(`${key}.`) || name.startsWith(`${key}[`)),
  );
}

function hasTls(settings: readonly Setting[]): boolean {
  return settings.some(({ path: [section, key] }) => section === 'server' && key === 'tls');
}

const mostNamed = 10;

export interface ConfigChange {
  readonly before: Config;
  readonly after: Config;
  readonly moves: readonly AccountMove[];
}

export function previewOf({ after, moves }: ConfigChange, fleet: Fleet): readonly string[] {
  const dropped = droppedBy(after, fleet, moves);
  const leaving = dropped.map(({ account, email }) => `${account}/${email} is no longer guarded`);
  const left = leaving.length - mostNamed;
  const more = counted(left, 'more mailbox is no longer guarded', 'more mailboxes are no longer guarded');
  return [...leaving.slice(0, mostNamed), ...(left > 0 ? [`... and ${more}`] : []), ...leftChangedText(dropped)];
}

// Moves before a reload and at a start: renamed accounts, and mailboxes that go on under another account.

export function knownAccount(account: AccountConfig): KnownAccount {
  const { name, baseUrl } = account;
  return { name, api: baseUrl, digest: createHash('sha256').update(budgetKeyOf(account)).digest('base64url') };
}

/** The same base_url and key identify an account under another name. */
export function renamesOf(before: readonly KnownAccount[], after: readonly KnownAccount[]): readonly AccountMove[] {
  return after.flatMap(({ name, digest }) => {
    const isSame = (one: KnownAccount) => one.digest === digest;
    const [from, ...others] = before.filter(isSame);
    const isOnly = others.length === 0 && after.filter(isSame).length === 1;
    return from && isOnly && from.name !== name ? [{ from: from.name, to: name, ids: null }] : [];
  });
}

/** Includes mailboxes of removed accounts that another account lists. */
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

/** Returns a test that finds the mailboxes that go on under another account. */
export function isMovedBy(moves: readonly AccountMove[]) {
  const sets = moves.map(({ from, ids }) => ({ from, ids: ids && new Set(ids) }));
  return ({ account, id }: Pick<MailboxState, 'account' | 'id'>): boolean =>
    sets.some(({ from, ids }) => from === account && (ids?.has(id) ?? true));
}

export function movesText(moves: readonly AccountMove[], fleet: Fleet, now: EpochMs): readonly string[] {
  return moves.flatMap(({ from, to, ids }) => {
    const count = counted(ids?.length ?? fleet.mailboxCount(from), 'mailbox', 'mailboxes');
    if (ids === null)
      return [`account ${from} is now called ${to}: its ${count} keep their history, claims and alerts`];
    const off = fleet.writesOff(now).find(({ scope }) => scope.kind === 'account' && scope.account === from);
    return [
      `account ${to} now guards ${count} of account ${from}, with their history, claims and alerts`,
      ...(off ? [`writes stay off for them, because they are off for account ${from} (${off.by}: ${off.reason})`] : []),
    ];
  });
}

function leftChangedText(dropped: readonly MailboxState[]): readonly string[] {
  const changed = dropped.filter(({ memory }) => memory?.claim);
  if (changed.length === 0) return [];
  const names = changed.map(({ account, email }) => `${account}/${email}`);
  return [
    `Warmwarden leaves as they are, in recovery mode or paused, ${counted(changed.length, 'mailbox', 'mailboxes')} that it changed: ${firstText(names, mostNamed)}`,
  ];
}

/** `waiting`: numbers of alerts and incidents that wait for the end of a mute time, by channel. */
export function unmutedText(
  waiting: ReadonlyMap<string, number>,
  { alerts: { channels, routes } }: Config,
): readonly string[] {
  return [...waiting].flatMap(([name, count]) => {
    if (!channels.some((channel) => channel.name === name))
      return [`what waits for the channel ${name} until the end of a mute time (${count}) goes to other channels`];
    const isMuted = routes.some((route) => route.channels.includes(name) && (route.mute ?? []).length > 0);
    return isMuted ? [] : [`what waits for the channel ${name} until the end of a mute time is sent now`];
  });
}

/** The loops of the former accounts must have ended. Rejects if nothing could be moved. */
export async function moveMailboxes(
  { fleet, store, group, turns, world, onTransitions }: RecorderRooms,
  { moves, accounts }: { readonly moves: readonly AccountMove[]; readonly accounts: readonly AccountConfig[] },
  duties: Pick<Duties, 'watchOf'>,
): Promise<void> {
  await turns.take(async () => {
    await group.commit();
    const known = await store.knownAccounts();
    const alerts = alertsOfMoves(fleet, moves, known, world.clock.now());
    await store.recordAccounts({ accounts: accounts.map(knownAccount), moves, alerts });
    if (moves.length === 0) return;
    const moved = moves.map((move) => {
      const theirs = [...fleet.mailboxesOf(move.from)].filter(isMovedBy([move]));
      return { ...move, mailboxes: theirs.map((mailbox) => mailboxUnder(mailbox, move.to)) };
    });
    for (const name of takenNames(moves, known)) fleet.clearAccount(name);
    for (const { from, mailboxes } of moved)
      for (const { id } of mailboxes) {
        fleet.removeMailbox(from, id);
        group.forget({ account: from, id });
      }
    for (const { to, mailboxes } of moved) {
      for (const mailbox of mailboxes) fleet.putMailbox(mailbox);
      await duties.watchOf(to)?.adopt(mailboxes);
    }
    showShared(fleet, await store.loadPicture([]), new Set(accounts.map(({ name }) => name)));
    fleet.putAlerts(alerts);
    if (alerts.transitions.length > 0) onTransitions();
  });
}
