// What another configuration changes: which accounts begin, end or start over, which mailboxes leave, which verdicts turn. Pure.
import { isDeepStrictEqual } from 'node:util';
import { judgeMailbox } from '../../account/record/observe.ts';
import { isForPeople } from '../../alerts/routing.ts';
import type { AccountConfig, Config } from '../../config/config.ts';
import { resolvePolicy, selects } from '../../config/mailbox-rules.ts';
import { changesBetween, type Setting, type SettingChange } from '../../config/settings.ts';
import { type Alert, accountsOf, noAccount } from '../../core/alert.ts';
import type { Fleet } from '../../core/fleet/fleet.ts';
import type { MailboxState } from '../../core/mailbox.ts';
import type { EpochMs } from '../../core/time.ts';
import { counted } from '../../core/wording/phrases.ts';
import { decisionWords } from '../../core/wording/states.ts';
import type { AccountMove } from '../../store/records.ts';
import { isMoved, leftChangedText } from './moves.ts';

/** Names of accounts. */
export interface Impact {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Accounts that are polled in another way (address, key, rate limit, cadence, status words): they start over. */
  readonly restarted: readonly string[];
  /** Accounts with other rules (guard, overrides, selection): their mailboxes are judged again. */
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

/** A reload that drops more than this share of the known mailboxes looks like a mistake. */
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

function connectionOf({ guard: _guard, overrides: _overrides, mailboxes: _mailboxes, ...connection }: AccountConfig) {
  return connection;
}

/** Known mailboxes that another configuration guards no more, whatever the account. */
function droppedBy(after: Config, fleet: Fleet, moves: readonly AccountMove[]): readonly MailboxState[] {
  const accounts = new Map(after.accounts.map((account) => [account.name, account]));
  return [...fleet.mailboxes()].filter((mailbox) => {
    const account = accounts.get(mailbox.account);
    return !isMoved(moves, mailbox) && (!account || !selects(account, mailbox));
  });
}

/** What the configuration takes away that is more likely to be a mistake, as parts of sentences. */
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

/** The channels except recipes, when another configuration leaves none of them. */
export function lastChannelsGone(before: Config, after: Config): readonly string[] {
  const read = ({ alerts }: Config) => alerts.channels.filter(isForPeople).map(({ name }) => name);
  return read(after).length === 0 ? read(before) : [];
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

// The preview: which mailboxes leave, which verdicts and alerts change.

/** More than this of a kind are counted, not named. */
const named = 10;

/** The configuration in force, and the one that is asked about. */
export interface ConfigChange {
  readonly before: Config;
  readonly after: Config;
  readonly moves: readonly AccountMove[];
}

export interface Preview {
  /** None when nothing that is known changes. */
  readonly sentences: readonly string[];
  /** Of each kind all of them, also those that the sentences only count. */
  readonly counts: Readonly<Record<string, number>>;
}

export function previewOf({ before, after, moves }: ConfigChange, fleet: Fleet, now: EpochMs): Preview {
  const dropped = droppedBy(after, fleet, moves);
  const gone = new Set(dropped.map(({ account, id }) => `${account}/${id}`));
  const accounts = new Set(after.accounts.map(({ name }) => name));
  const leaves = ({ account, mailboxId }: Alert) =>
    account !== noAccount &&
    !isMoved(moves, { account, id: mailboxId ?? '' }) &&
    (!accounts.has(account) || (mailboxId !== null && gone.has(`${account}/${mailboxId}`)));
  const ending = [...fleet.alerts()].filter(
    (alert) => alert.status === 'firing' && (leaves(alert) || holdsNobody(alert, after)),
  );
  const turned = after.accounts.flatMap((account) => {
    const was = before.accounts.find(({ name }) => name === account.name);
    if (!was || isDeepStrictEqual(was, account)) return [];
    return [...fleet.mailboxesOf(account.name)]
      .filter((mailbox) => !isDeepStrictEqual(resolvePolicy(was, mailbox), resolvePolicy(account, mailbox)))
      .flatMap((mailbox) => turnedVerdict(mailbox, account, after, now));
  });
  const sentences = [
    ...atMost(
      dropped.map(({ account, email }) => `${account}/${email} is no longer guarded`),
      ['more mailbox is no longer guarded', 'more mailboxes are no longer guarded'],
    ),
    ...leftChangedText(dropped),
    ...atMost(
      ending.map(({ facts }) => `the alert "${facts.title}" ends`),
      ['more alert ends', 'more alerts end'],
    ),
    ...atMost(turned, ['more mailbox is judged differently', 'more mailboxes are judged differently']),
  ];
  const counts = { no_longer_guarded: dropped.length, alerts_ending: ending.length, judged_differently: turned.length };
  return { sentences, counts };
}

/** What the circuit breaker of an API holds ends with the last account under it that something is held of. */
function holdsNobody(alert: Alert, { accounts }: Config): boolean {
  if (alert.rule !== 'guard_held') return false;
  const held = accountsOf(alert);
  return !accounts.some(({ name, baseUrl }) => baseUrl === alert.object && held.includes(name));
}

function turnedVerdict(mailbox: MailboxState, account: AccountConfig, after: Config, now: EpochMs): readonly string[] {
  const policy = resolvePolicy(account, mailbox);
  const words = after.api.statusWords;
  const is = judgeMailbox(mailbox, { policy, words, now, freshStats: false })?.verdict;
  const was = mailbox.verdict?.answer;
  if (!was || !is || (was.action === is.action && was.reason === is.reason)) return [];
  return [
    `${mailbox.account}/${mailbox.email} is judged differently, and its alerts change: ${decisionWords(was)} -> ${decisionWords(is)}`,
  ];
}

function atMost(lines: readonly string[], [one, many]: readonly [string, string]): readonly string[] {
  if (lines.length <= named) return lines;
  return [...lines.slice(0, named), `... and ${counted(lines.length - named, one, many)}`];
}
