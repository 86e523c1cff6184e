// Selects the channels for an alert, those of the matching routes, and the names that a channel may show. The
// configuration has routes even if the file writes none. Pure.
import {
  type Alert,
  type AlertMatch,
  type Announcement,
  accountsOf,
  isCause,
  type Silence,
  type Transition,
} from '../core/alert.ts';
import { ruleBook } from '../core/alert-rules.ts';
import type { ChannelState, Fleet } from '../core/fleet/fleet.ts';
import { heldEntries } from '../core/guard/breaker.ts';
import { domainOf, idOfKey, type MailboxName, type MailboxState } from '../core/mailbox.ts';
import { fitsGlob, namesMailbox } from '../core/mailbox-pattern.ts';
import type { EpochMs } from '../core/time.ts';
import { isDisarming, protectionOf } from './rules/protection-rule.ts';

/** Protection that a person took away is always announced. */
export function mutes(match: AlertMatch, alert: Alert): boolean {
  return !isDisarming(alert) && matches(alert, match);
}

/** Returns the silence that lasts longest, or null if none mutes the alert. */
export function silenceOf(alert: Alert, silences: readonly Silence[]): Silence | null {
  const over = silences.filter(({ match }) => mutes(match, alert));
  return over.reduce<Silence | null>((last, one) => (last && last.until >= one.until ? last : one), null);
}

/** An alert about several accounts must match a silence with `every` one, so that no other part is muted. */
export function matches(alert: Alert, match: AlertMatch, accounts: 'every' | 'one' = 'every'): boolean {
  return (
    (match.severity === undefined || match.severity.includes(alert.severity)) &&
    (match.account === undefined || fitsAccounts(match.account, alert, accounts)) &&
    (match.rule === undefined || anyGlob(match.rule, alert.rule)) &&
    (match.domain === undefined || isOfDomain(match.domain, alert)) &&
    (match.mailbox === undefined || isOfMailbox(match.mailbox, alert)) &&
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

function isOfMailbox(patterns: readonly string[], { email, mailboxId }: Alert): boolean {
  return (mailboxId !== null && patterns.includes(mailboxId)) || (email !== null && anyGlob(patterns, email));
}

/** Matches the domain of the alert's mailbox, or the domain that the alert itself is about. */
function isOfDomain(globs: readonly string[], alert: Alert): boolean {
  const { email, facts } = alert;
  const object = isCause(alert) ? null : alert.object;
  const seenWith = facts.numbers['seen_with'];
  const address = email ?? (typeof seenWith === 'string' ? seenWith : null);
  return (object !== null && anyGlob(globs, object)) || (address !== null && anyGlob(globs, domainOf(address)));
}

/** A recipe only acts. */
export function isReadByPeople({ type }: { readonly type: string }): boolean {
  return type !== 'recipe';
}

export type RoutedChannel = Pick<ChannelState, 'name' | 'type'>;

/**
 * Protection that was taken away goes to every channel that people read, and so does a critical alert whose routes reach
 * no person. A client's channel gets what is about others only if every other channel would miss it, and never as info.
 */
export function channelsFor(
  alert: Alert,
  routes: readonly AlertRoute[],
  channels: readonly RoutedChannel[],
  fleet: KnownFleet,
): readonly string[] {
  // A failing channel is announced through the others.
  const able = channels.filter(({ name }) => alert.rule !== 'channel_failing' || name !== alert.object);
  const wanted = new Set(routes.filter((route) => wants(route, alert)).flatMap((route) => route.channels));
  const everybody = able.filter((channel) => wanted.has(channel.name) || isReadByPeople(channel));
  const routed = isDisarming(alert) ? able.filter(isReadByPeople) : able.filter(({ name }) => wanted.has(name));
  const concerned = (some: readonly RoutedChannel[]) =>
    some.filter((one) => !isReadByPeople(one) || audienceOf(one.name, routes, fleet).concernOf(alert) !== 'none');
  const choices = {
    critical: [concerned(routed), concerned(everybody), everybody],
    warning: [concerned(routed), routed],
  };
  const choice =
    alert.severity === 'info' ? concerned(routed) : choices[alert.severity].find((some) => some.some(isReadByPeople));
  return namesOf(choice ?? routed);
}

function namesOf(channels: readonly RoutedChannel[]): readonly string[] {
  return channels.map(({ name }) => name);
}

/** An alert about Warmwarden itself has no account, so a route by account must not exclude it. */
function wants({ match }: AlertRoute, alert: Alert): boolean {
  const { account: _account, ...rest } = match;
  return matches(alert, accountsOf(alert).length === 0 ? rest : match, 'one');
}

/** Returns true if held actions came to concern a channel that was not notified of the hold. */
export function hasJoined(alert: Alert, announcement: Announcement | undefined, wanted: readonly string[]): boolean {
  const known = announcement?.channels;
  return ruleBook[alert.rule].shows === 'hold' && known != null && wanted.some((channel) => !known.includes(channel));
}

// Pauses by Warmwarden for channels that page: an event never resolves, but its page ends when the mailbox runs again,
// leaves, or is silenced by a person. Pure.

const mark = 'guard_paused';

export function isPause({ kind, alert: { rule, facts, mailboxId } }: Transition): boolean {
  const { action, outcome } = facts.numbers;
  return (
    kind === 'event' && rule === 'guard_acted' && mailboxId !== null && action === 'pause' && outcome === 'confirmed'
  );
}

export function isPauseEnd({ fingerprint }: Pick<Alert, 'fingerprint'>): boolean {
  return fingerprint.startsWith(`${mark}|`);
}

export function pauseFingerprint({ account, mailboxId }: Pick<Alert, 'account' | 'mailboxId'>): string {
  return [mark, account, mailboxId ?? ''].join('|');
}

interface PauseFacts {
  readonly now: EpochMs;
  readonly mailbox: (account: string, id: string) => MailboxState | undefined;
  readonly silenced: (alert: Alert) => boolean;
}

/** Returns null if the pause lasts, or the announcement is about no pause. */
export function pauseEnd({ fingerprint, at: since, severity }: Announcement, facts: PauseFacts): Transition | null {
  const [first, account = '', ...rest] = fingerprint.split('|');
  if (first !== mark) return null;
  const mailboxId = rest.join('|');
  const mailbox = facts.mailbox(account, mailboxId);
  const email = mailbox?.entry.answer.email ?? null;
  const ended = (why: string): Transition => {
    const subject = { rule: 'guard_acted', account, mailboxId, email, object: null } as const;
    const times = { since, firingAt: since, resolvedAt: facts.now, firesAt: null, seen: 0 };
    const about = { title: `${email ?? mailboxId}: ${why}`, sentences: [], numbers: {} };
    const alert: Alert = { ...subject, fingerprint, severity, status: 'resolved', ...times, facts: about };
    return { kind: 'resolved', at: facts.now, alert };
  };
  if (!mailbox) return ended('the mailbox is no longer guarded');
  if (mailbox.memory?.run === 'running') return ended('the warm-up runs again');
  const end = ended('a person silenced it');
  return facts.silenced(end.alert) ? end : null;
}

// Names that a channel may show: those in its routes. A channel shows all names if one of its routes names no account,
// mailbox or domain, or if its routes name the whole fleet. Any other channel is a client's.

export interface AlertRoute {
  readonly match: AlertMatch;
  readonly channels: readonly string[];
}

/** Relation of an alert to what a channel is told of: it is all within it, in part, or not at all. */
type Concern = 'all' | 'part' | 'none';

export interface Audience {
  /** Returns true if the channel is told of a part of the fleet only. */
  isClient(): boolean;
  sees(mailbox: Pick<MailboxName, 'account' | 'id' | 'email'>): boolean;
  concernOf(alert: Alert): Concern;
}

export type KnownFleet = Pick<Fleet, 'accounts' | 'mailboxesOf' | 'breaker'>;

const everybody: Audience = { isClient: () => false, sees: () => true, concernOf: () => 'all' };

export function audienceOf(channel: string, routes: readonly AlertRoute[], fleet: KnownFleet): Audience {
  const matches = routes.filter(({ channels }) => channels.includes(channel)).map(({ match }) => match);
  const isWide = ({ account, mailbox, domain }: AlertMatch) => [account, mailbox, domain].every(isUnlimited);
  return matches.length === 0 || matches.some(isWide) ? everybody : clientAudience(matches, fleet);
}

function clientAudience(matches: readonly AlertMatch[], fleet: KnownFleet): Audience {
  const sees: Audience['sees'] = ({ account, id, email }) =>
    matches.some(
      (match) =>
        fits(match.account, account) &&
        fits(match.domain, domainOf(email)) &&
        (match.mailbox?.some((pattern) => namesMailbox(pattern, { id, email })) ?? true),
    );
  const seesAll = (account: string) =>
    matches.some((match) => isUnlimited(match.mailbox) && isUnlimited(match.domain) && fits(match.account, account)) ||
    seesEvery([...fleet.mailboxesOf(account)]);
  const seesEvery = (mailboxes: readonly MailboxName[]) => mailboxes.length > 0 && mailboxes.every(sees);
  const seesSome = (account: string) => seesAll(account) || [...fleet.mailboxesOf(account)].some(sees);
  const seesFleet = () => {
    const accounts = [...fleet.accounts()];
    return accounts.length > 0 && accounts.every(({ name }) => seesAll(name));
  };
  const seesDomain = ({ account, object }: Alert) =>
    matches.some(
      ({ domain, ...match }) =>
        domain !== undefined &&
        isUnlimited(match.mailbox) &&
        fits(match.account, account) &&
        fits(domain, object ?? ''),
    );
  const concernOf = (alert: Alert): Concern => {
    const { account, mailboxId, email } = alert;
    const accounts = accountsOf(alert);
    if (accounts.length === 0) return seesFleet() ? 'all' : concernsEverybody(alert) ? 'part' : 'none';
    if (accounts.every(seesAll)) return 'all';
    const held = ruleBook[alert.rule].shows === 'hold' ? heldEntries(fleet.breaker(alert.object ?? '')) : [];
    if (held.length > 0) return held.some((one) => sees({ ...one, id: idOfKey(one.key) })) ? 'part' : 'none';
    if (mailboxId !== null || email !== null)
      return sees({ account, id: mailboxId ?? '', email: email ?? '' }) ? 'all' : 'none';
    if (seesDomain(alert)) return 'all';
    return accounts.some(seesSome) ? 'part' : 'none';
  };
  return { isClient: () => !seesFleet(), sees, concernOf };
}

/** Returns true for missing protection, a crash and a failing store: then no mailbox is guarded as its owner expects. */
function concernsEverybody(alert: Alert): boolean {
  const protection = protectionOf(alert);
  return (
    alert.rule === 'crashed' || alert.rule === 'store_failing' || (protection !== null && protection !== 'account')
  );
}

function isUnlimited(globs: readonly string[] | undefined): boolean {
  return globs?.includes('*') ?? true;
}

function fits(globs: readonly string[] | undefined, name: string): boolean {
  return globs?.some((glob) => fitsGlob(glob, name)) ?? true;
}
