// Which channels want to hear of an alert: those of the routes, or the default without any.
import {
  type Alert,
  type AlertMatch,
  type Announcement,
  accountsOf,
  isCause,
  type Severity,
  type Silence,
  type Transition,
} from '../core/alert.ts';
import { domainOf, type MailboxState } from '../core/mailbox.ts';
import { fitsGlob } from '../core/mailbox-pattern.ts';
import type { EpochMs } from '../core/time.ts';
import { isDisarming } from './rules/protection-rule.ts';

// Whether an alert is one of those that a route or a silence is about.

/** Whether a silence keeps the messages of an alert back. Protection that a person took away is always announced. */
export function mutes(match: AlertMatch, alert: Alert): boolean {
  return !isDisarming(alert) && matches(alert, match);
}

/** Of the silences that mute it, the one that ends last; null: its messages are sent. */
export function silenceOf(alert: Alert, silences: readonly Silence[]): Silence | null {
  const over = silences.filter(({ match }) => mutes(match, alert));
  return over.reduce<Silence | null>((last, one) => (last && last.until >= one.until ? last : one), null);
}

/**
 * All that is given must fit; of one list, one entry is enough. An empty match fits everything. Of an alert that
 * concerns several accounts `every` one must fit (a silence must not mute another account's part), or just `one`.
 */
export function matches(alert: Alert, match: AlertMatch, accounts: 'every' | 'one' = 'every'): boolean {
  return (
    (match.severity === undefined || match.severity.includes(alert.severity)) &&
    (match.account === undefined || fitsAccounts(match.account, alert, accounts)) &&
    (match.rule === undefined || anyGlob(match.rule, alert.rule)) &&
    (match.domain === undefined || isOfDomain(match.domain, alert)) &&
    (match.mailbox === undefined || namesMailbox(match.mailbox, alert)) &&
    (match.object === undefined || (alert.object !== null && anyGlob(match.object, alert.object)))
  );
}

function fitsAccounts(globs: readonly string[], alert: Alert, accounts: 'every' | 'one'): boolean {
  const concerned = accountsOf(alert);
  const names = concerned.length > 0 ? concerned : [alert.account];
  return accounts === 'every'
    ? names.every((name) => anyGlob(globs, name))
    : names.some((name) => anyGlob(globs, name));
}

function anyGlob(globs: readonly string[], name: string): boolean {
  return globs.some((glob) => fitsGlob(glob, name));
}

function namesMailbox(patterns: readonly string[], { email, mailboxId }: Alert): boolean {
  return (mailboxId !== null && patterns.includes(mailboxId)) || (email !== null && anyGlob(patterns, email));
}

/** The domain of the alert's mailbox, or the domain that it is about itself. */
function isOfDomain(globs: readonly string[], alert: Alert): boolean {
  const { email, facts } = alert;
  const object = isCause(alert) ? null : alert.object;
  const seenWith = facts.numbers['seen_with'];
  const address = email ?? (typeof seenWith === 'string' ? seenWith : null);
  return (object !== null && anyGlob(globs, object)) || (address !== null && anyGlob(globs, domainOf(address)));
}

export interface AlertRoute {
  readonly match: AlertMatch;
  /** Names of channels. */
  readonly channels: readonly string[];
}

/** Whether messages of a channel are for people: a recipe only acts. */
export function isForPeople({ type }: { readonly type: string }): boolean {
  return type !== 'recipe';
}

/** Told without any route: what may cost sleep or money. info stays on the page. */
const defaultSeverities: readonly Severity[] = ['critical', 'warning'];

/** A configured channel, as far as routes know it. */
export interface RoutedChannel {
  readonly name: string;
  readonly type: string;
}

/**
 * The names of the channels for an alert: those of every route that matches; without routes all of them, for warning and
 * critical. A critical alert whose routes lead to nobody goes to every channel that people read.
 */
export function channelsFor(
  alert: Alert,
  routes: readonly AlertRoute[],
  channels: readonly RoutedChannel[],
): readonly string[] {
  // That a channel fails is announced through the others.
  const able = channels.filter(({ name }) => alert.rule !== 'channel_failing' || name !== alert.object);
  if (routes.length === 0) return defaultSeverities.includes(alert.severity) ? namesOf(able) : [];
  const wanted = new Set(routes.filter((route) => wants(route, alert)).flatMap((route) => route.channels));
  const taken = able.filter(({ name }) => wanted.has(name));
  if (alert.severity !== 'critical' || taken.some(isForPeople)) return namesOf(taken);
  return namesOf(able.filter((channel) => wanted.has(channel.name) || isForPeople(channel)));
}

function namesOf(channels: readonly RoutedChannel[]): readonly string[] {
  return channels.map(({ name }) => name);
}

/**
 * What is about Warmwarden itself belongs to no account: a route by account must not keep it from being announced. What
 * concerns several accounts is sent to whoever wants to hear of one of them.
 */
function wants({ match }: AlertRoute, alert: Alert): boolean {
  const { account: _account, ...rest } = match;
  return matches(alert, accountsOf(alert).length === 0 ? rest : match, 'one');
}

/** Of these channels, those that want the alert by now and were not notified of it. Nobody knows of it yet: none. */
export function joinedChannels(
  alert: Alert,
  announcement: Announcement | undefined,
  routes: readonly AlertRoute[],
  channels: readonly RoutedChannel[],
): readonly string[] {
  const known = announcement?.channels;
  return known ? channelsFor(alert, routes, channels).filter((channel) => !known.includes(channel)) : [];
}

// The pauses of Warmwarden, for channels that page: an event that never resolves as an alert, but whose page ends when the mailbox
// runs again, leaves, or a person silences it. Pure.

const mark = 'guard_paused';

/** Whether it reports that Warmwarden paused a warm-up. */
export function isPause({ kind, alert: { rule, facts, mailboxId } }: Transition): boolean {
  const { action, outcome } = facts.numbers;
  return (
    kind === 'event' && rule === 'guard_acted' && mailboxId !== null && action === 'pause' && outcome === 'confirmed'
  );
}

/** The identity of what lasts while the mailbox is paused. */
export function pauseFingerprint({ account, mailboxId }: Pick<Alert, 'account' | 'mailboxId'>): string {
  return [mark, account, mailboxId ?? ''].join('|');
}

/** That channels were notified of a pause, and are to be notified of its end. */
export function pauseAnnouncement(
  { alert }: Transition,
  { channels, at }: { readonly channels: readonly string[]; readonly at: EpochMs },
): Announcement {
  return { fingerprint: pauseFingerprint(alert), at, severity: alert.severity, channels };
}

/** What decides whether a pause is over. */
interface PauseFacts {
  readonly now: EpochMs;
  readonly mailbox: (account: string, id: string) => MailboxState | undefined;
  /** Whether a person silenced it. */
  readonly silenced: (alert: Alert) => boolean;
}

/** The end of the pause that was announced; null while it lasts, and for what is no pause. */
export function pauseEnd({ fingerprint, at, severity }: Announcement, facts: PauseFacts): Transition | null {
  const [first, account = '', ...rest] = fingerprint.split('|');
  if (first !== mark) return null;
  const mailboxId = rest.join('|');
  const mailbox = facts.mailbox(account, mailboxId);
  const email = mailbox?.entry.answer.email ?? null;
  const about = { fingerprint, account, mailboxId, email, since: at, now: facts.now, severity };
  if (!mailbox) return endOf(about, 'the mailbox is no longer guarded');
  if (mailbox.memory?.run === 'running') return endOf(about, 'the warm-up runs again');
  const end = endOf(about, 'a person silenced it');
  return facts.silenced(end.alert) ? end : null;
}

interface About extends Pick<Alert, 'fingerprint' | 'account' | 'mailboxId' | 'email' | 'since'> {
  readonly severity: Severity;
  readonly now: EpochMs;
}

function endOf({ now, ...about }: About, why: string): Transition {
  const alert: Alert = {
    ...about,
    rule: 'guard_acted',
    object: null,
    status: 'resolved',
    firingAt: about.since,
    resolvedAt: now,
    firesAt: null,
    seen: 0,
    facts: { title: `${about.email ?? about.mailboxId}: ${why}`, sentences: [], numbers: {} },
  };
  return { kind: 'resolved', at: now, alert };
}
