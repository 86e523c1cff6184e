// What another configuration means for what runs: which loops begin, end or start over, and whose mailboxes are judged again. Pure.
import { isDeepStrictEqual } from 'node:util';
import { isForPeople } from '../../alerts/routing.ts';
import type { AccountConfig, Config } from '../../config/config.ts';
import { resolvePolicy, selects } from '../../config/mailbox-rules.ts';
import { changesBetween, type Setting, type SettingChange } from '../../config/settings.ts';
import type { MailboxState } from '../../core/mailbox.ts';
import type { Policy } from '../../core/policy.ts';
import type { AccountMove } from '../../store/records.ts';
import type { Pacer } from '../../world/world.ts';
import { isMoved } from './moves.ts';

export interface Impact {
  /** Names of accounts. */
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** What they are polled with differs (address, key, rate limit, cadence, status words): their loops start over. */
  readonly restarted: readonly string[];
  /** Their loops go on under other rules (guard, overrides, selection). */
  readonly changed: readonly string[];
}

/** The keys that a running daemon takes over; the others need a restart. */
const liveKeys = [
  'accounts',
  'poll',
  'guard',
  'api',
  'alerts.channels',
  'alerts.routes',
  'alerts.group_wait',
  'alerts.group_interval',
  'alerts.repeat_interval',
  'alerts.digest',
  'alerts.heartbeat',
  'alerts.rules',
  'recipes',
  'retention',
  'proxy',
  'server.allowed_hosts',
  'server.auth',
  'server.tls',
  'server.trusted_proxies',
  'log.level',
  'metrics.mailbox_label',
  'metrics.series_limit',
] as const;

/** More than this share of the known mailboxes is not dropped without `force`. */
const maxDroppedShare = 0.2;

export function impactOf(before: Config, after: Config): Impact {
  const old = new Map(before.accounts.map((account) => [account.name, account]));
  const now = new Set(after.accounts.map(({ name }) => name));
  const shared = !isDeepStrictEqual([before.poll, before.api], [after.poll, after.api]);
  const restarted: string[] = [];
  const changed: string[] = [];
  for (const account of after.accounts) {
    const was = old.get(account.name);
    if (!was) continue;
    if (shared || !isDeepStrictEqual(connectionOf(was), connectionOf(account))) restarted.push(account.name);
    else if (!isDeepStrictEqual(was, account)) changed.push(account.name);
  }
  return {
    added: after.accounts.map(({ name }) => name).filter((name) => !old.has(name)),
    removed: before.accounts.map(({ name }) => name).filter((name) => !now.has(name)),
    restarted,
    changed,
  };
}

/** What the client and the loop of an account were made with. */
function connectionOf(account: AccountConfig) {
  const { guard: _guard, overrides: _overrides, mailboxes: _mailboxes, ...connection } = account;
  return connection;
}

/** Known mailboxes that another configuration guards no more, whatever the account. */
export async function droppedBy(
  after: Config,
  known: Iterable<MailboxState>,
  moves: readonly AccountMove[],
  pacer: Pacer,
): Promise<readonly MailboxState[]> {
  const accounts = new Map(after.accounts.map((account) => [account.name, account]));
  const dropped: MailboxState[] = [];
  for (const mailbox of [...known]) {
    if (pacer.due()) await pacer.turn();
    if (isMoved(moves, mailbox)) continue;
    const account = accounts.get(mailbox.account);
    if (!account || !selects(account, mailbox)) dropped.push(mailbox);
  }
  return dropped;
}

/** Whether so many are dropped that it looks like a mistake. */
export function looksLikeAMistake(dropped: number, known: number): boolean {
  return dropped > known * maxDroppedShare;
}

/** The channels except recipes, when another configuration leaves none of them. */
export function lastChannelsGone(before: Config, after: Config): readonly string[] {
  const read = ({ alerts }: Config) => alerts.channels.filter(isForPeople).map(({ name }) => name);
  return read(after).length === 0 ? read(before) : [];
}

/** Whether another policy holds for a mailbox of the account now, and may change something for it. */
export function isReruled(was: AccountConfig, account: AccountConfig, mailbox: MailboxState): boolean {
  const difference = differenceOf(resolvePolicy(was, mailbox), resolvePolicy(account, mailbox));
  // A mailbox without bounces is far from its limit, whatever counts as near.
  return difference === 'near limit' ? (mailbox.verdict?.answer.bounced ?? 0) > 0 : difference === 'any';
}

type Difference = 'none' | 'near limit' | 'any';

/** A fleet has few policies, and each mailbox asks for two of them. */
const differences = new WeakMap<Policy, WeakMap<Policy, Difference>>();

function differenceOf(was: Policy, is: Policy): Difference {
  const known = differences.get(was) ?? new WeakMap<Policy, Difference>();
  differences.set(was, known);
  const difference = known.get(is) ?? comparedWith(was, is);
  known.set(is, difference);
  return difference;
}

function comparedWith(was: Policy, is: Policy): Difference {
  if (isDeepStrictEqual(was, is)) return 'none';
  return isDeepStrictEqual({ ...was, nearLimitPpm: is.nearLimitPpm }, is) ? 'near limit' : 'any';
}

/** Changes that only a restart takes over, against the settings that the process was started with. */
export function needingRestart(started: readonly Setting[], after: readonly Setting[]): readonly SettingChange[] {
  // A certificate is renewed while the server runs; between http and https it must start over.
  const restarted = hasTls(started) === hasTls(after) ? [] : ['server.tls'];
  const isLive = (name: string) => liveKeys.some((key) => isBelow(name, key) && !restarted.includes(key));
  return changesBetween(started, after).filter(({ name }) => !isLive(name));
}

function hasTls(settings: readonly Setting[]): boolean {
  return settings.some(({ path: [section, key] }) => section === 'server' && key === 'tls');
}

function isBelow(name: string, key: string): boolean {
  return name === key || name.startsWith(`${key}.`) || name.startsWith(`${key}[`);
}
