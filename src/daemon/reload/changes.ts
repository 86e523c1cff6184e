// Differences between two configurations: accounts that begin, end or start over, mailboxes that leave, verdicts that
// change. Pure.
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

/** Accounts by the effect of a reload on them, as names. */
export interface Impact {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Accounts whose polling changes (address, key, rate limit, cadence, status words): they start over. */
  readonly restarted: readonly string[];
  /** Accounts whose rules change (guard, overrides, selection): their mailboxes are judged again. */
  readonly changed: readonly string[];
}

/** Keys that a running daemon applies; the others need a restart. */
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

/** Share of the known mailboxes; a reload that drops more than this looks like a mistake. */
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

/** Mailboxes in the picture, of any account, that another configuration no longer guards. */
function droppedBy(after: Config, fleet: Fleet, moves: readonly AccountMove[]): readonly MailboxState[] {
  const accounts = new Map(after.accounts.map((account) => [account.name, account]));
  return [...fleet.mailboxes()].filter((mailbox) => {
    const account = accounts.get(mailbox.account);
    return !isMoved(moves, mailbox) && (!account || !selects(account, mailbox));
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

/** Channels for people (all except recipes) if another configuration removes the last of them; else empty. */
export function lastChannelsGone(before: Config, after: Config): readonly string[] {
  const read = ({ alerts }: Config) => alerts.channels.filter(isForPeople).map(({ name }) => name);
  return read(after).length === 0 ? read(before) : [];
}

/** Keys whose change needs a restart, compared with the settings at the start of the process. */
export function needingRestart(started: readonly Setting[], after: readonly Setting[]): readonly SettingChange[] {
  // A certificate can be renewed while the server runs; a change between http and https needs a restart.
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

// Preview of a reload: which mailboxes leave, which verdicts and alerts change.

/** Largest number of names of a kind; more are counted. */
const named = 10;

/** Configuration in force, and the one that is compared with it. */
export interface ConfigChange {
  readonly before: Config;
  readonly after: Config;
  readonly moves: readonly AccountMove[];
}

export interface Preview {
  /** Sentences about the changes; empty if no known mailbox or alert changes. */
  readonly sentences: readonly string[];
  /** Counts of each kind, including those that the sentences do not name. */
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

/** True if the breaker of an API holds no mailbox of an account that is still configured for it. */
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
