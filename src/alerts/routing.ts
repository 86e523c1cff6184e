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
import { type EpochMs, elapsedMs } from '../core/time.ts';
import { spanText } from '../core/wording/phrases.ts';
import { leavesUnguarded } from './rules/account-rules.ts';
import { domainObject, ipObject } from './rules/finding-rules.ts';
import { isDisarming, protectionOf } from './rules/protection-rule.ts';

/** Protection that a person took away is always announced. */
export function mutes(match: AlertMatch, alert: Alert, fleet: KnownFleet): boolean {
  return !isDisarming(alert) && matches(alert, match, fleet);
}

/** Returns true if an acknowledgement would stop messages. The store can't keep one about itself. */
export function mayAcknowledge(alert: Alert): boolean {
  const isOpen = alert.status === 'firing' && alert.acknowledged === undefined;
  return isOpen && !isDisarming(alert) && ruleBook[alert.rule].event === undefined && alert.rule !== 'store_failing';
}

/** Returns the silence that lasts longest, or null if none mutes the alert. */
export function silenceOf(alert: Alert, silences: readonly Silence[], fleet: KnownFleet): Silence | null {
  const over = silences.filter(({ match }) => mutes(match, alert, fleet));
  return over.reduce<Silence | null>((last, one) => (last && last.until >= one.until ? last : one), null);
}

/** An alert about several accounts must match a silence with `every` one, so that no other part is muted. */
export function matches(
  alert: Alert,
  match: AlertMatch,
  fleet: KnownFleet,
  accounts: 'every' | 'one' = 'every',
): boolean {
  return (
    (match.severity === undefined || match.severity.includes(alert.severity)) &&
    fitsAccounts(match, alert, fleet, accounts) &&
    (match.rule === undefined || anyGlob(match.rule, alert.rule)) &&
    (match.domain === undefined || isOfDomain(match.domain, alert)) &&
    (match.mailbox === undefined || isOfMailbox(match.mailbox, alert)) &&
    (match.object === undefined || (alert.object !== null && anyGlob(match.object, alert.object)))
  );
}

function fitsAccounts(
  { account, tag, provider }: AlertMatch,
  alert: Alert,
  fleet: KnownFleet,
  accounts: 'every' | 'one',
): boolean {
  const concerned = accountsOf(alert);
  const names = concerned.length > 0 ? concerned : [alert.account];
  const traits = (name: string) => traitsOf(alert, name, fleet);
  const fits = (name: string) =>
    fitsAny(account, () => [name]) &&
    fitsAny(tag, () => traits(name).tags) &&
    fitsAny(provider, () => traits(name).providers);
  return accounts === 'every' ? names.every(fits) : names.some(fits);
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

export interface RoutingFacts {
  readonly routes: readonly AlertRoute[];
  readonly channels: readonly RoutedChannel[];
  readonly fleet: KnownFleet;
  readonly now: EpochMs;
}

/**
 * Protection that was taken away goes to every channel that people read, and so does a critical alert whose routes reach
 * nobody now who is told of all of it. A client's channel gets what is about others only if every other channel would miss
 * it, and never as info.
 */
export function channelsFor(alert: Alert, { routes, channels, fleet, now }: RoutingFacts): readonly string[] {
  // A failing channel is announced through the others.
  const able = channels.filter(({ name }) => alert.rule !== 'channel_failing' || name !== alert.object);
  const matching = routes.filter((route) => wants(route, alert, fleet));
  const due = matching.filter((route) => isDue(route, alert, now));
  const wanted = able.filter(({ name }) => leadsTo(name, due));
  const everybody = able.filter((channel) => wanted.includes(channel) || isReadByPeople(channel));
  const routed = isDisarming(alert) ? able.filter(isReadByPeople) : wanted;
  const concernOf = ({ name }: RoutedChannel) => audienceOf(name, routes, fleet).concernOf(alert);
  const concerned = (some: readonly RoutedChannel[]) =>
    some.filter((one) => !isReadByPeople(one) || concernOf(one) !== 'none');
  // Clients that are told of their parts do not stand in for who is told of all.
  const isOfParts = concerned(routed).every((one) => !isReadByPeople(one) || concernOf(one) === 'part');
  const choices = {
    critical: [isOfParts ? [] : concerned(routed), concerned(everybody), everybody],
    warning: [concerned(routed), routed],
  };
  // A client's channel does not stand in for one that a delayed route leads to.
  const isForLater = concerned(able.filter(({ name }) => leadsTo(name, matching))).some(isReadByPeople);
  const choice =
    alert.severity === 'info' || (alert.severity === 'warning' && isForLater)
      ? concerned(routed)
      : choices[alert.severity].find((some) => some.some(isReadByPeople));
  return namesOf(choice ?? routed);
}

/** Returns the channels that people read and that may show at least a part of the alert. */
export function readersOf(alert: Alert, { routes, channels, fleet }: RoutingFacts): readonly string[] {
  const mayShow = ({ name }: RoutedChannel) => audienceOf(name, routes, fleet).concernOf(alert) !== 'none';
  return namesOf(channels.filter((one) => isReadByPeople(one) && mayShow(one)));
}

function leadsTo(channel: string, routes: readonly AlertRoute[]): boolean {
  return routes.some(({ channels }) => channels.includes(channel));
}

function namesOf(channels: readonly RoutedChannel[]): readonly string[] {
  return channels.map(({ name }) => name);
}

/** An alert about Warmwarden itself has no account, so a route by account or tag must not exclude it. */
function wants({ match }: AlertRoute, alert: Alert, fleet: KnownFleet): boolean {
  const { account: _account, tag: _tag, ...rest } = match;
  if (accountsOf(alert).length === 0) return matches(alert, rest, fleet, 'one');
  return (
    matches(alert, match, fleet, 'one') || (matches(alert, rest, fleet, 'one') && exposesOneOf(match, alert, fleet))
  );
}

/** Returns true if the alert leaves a mailbox unprotected that the match picks. An account may have several clients. */
function exposesOneOf(match: AlertMatch, alert: Alert, fleet: KnownFleet): boolean {
  const exposed = leavesUnguarded(alert) ? [...fleet.mailboxesOf(alert.account)] : heldBy(alert, fleet);
  return exposed.some(audienceIn([match], fleet).sees);
}

/** Returns the mailboxes that the circuit breaker of the alert holds; none for an alert about anything else. */
function heldBy({ rule, object }: Alert, fleet: KnownFleet): readonly MailboxName[] {
  if (ruleBook[rule].shows !== 'hold') return [];
  return heldEntries(fleet.breaker(object ?? '')).map(({ key, account, email }) => ({
    account,
    id: idOfKey(key),
    email,
  }));
}

// Escalation: a route with a delay leads to its channels only when an alert has fired for that long.

function delayOf({ unlessResolvedAfterMs, unlessAcknowledgedAfterMs }: AlertRoute): number {
  return unlessResolvedAfterMs ?? unlessAcknowledgedAfterMs ?? 0;
}

/** Returns true if the route leads to its channels now. An event does not fire on, so no delayed route takes it. */
function isDue(route: AlertRoute, alert: Alert, now: EpochMs): boolean {
  const delay = delayOf(route);
  if (delay === 0) return true;
  const { firingAt, resolvedAt, acknowledged, rule } = alert;
  if (firingAt === null || ruleBook[rule].event !== undefined) return false;
  if (acknowledged && route.unlessAcknowledgedAfterMs !== undefined) return false;
  // The beginning of store_failing is announced without the store: its end goes the same ways.
  const isOver = resolvedAt !== null && rule !== 'store_failing';
  return !isOver && elapsedMs(firingAt, resolvedAt ?? now) >= delay;
}

type RoutesNow = Pick<RoutingFacts, 'routes' | 'fleet' | 'now'>;

/** Routes that lead to a channel now, the one with the longest delay first. */
function dueRoutes(channel: string, alert: Alert, { routes, fleet, now }: RoutesNow): readonly AlertRoute[] {
  const leading = routes.filter((route) => leadsTo(channel, [route]) && wants(route, alert, fleet));
  const due = leading.filter((route) => isDue(route, alert, now));
  return due.sort((a, b) => delayOf(b) - delayOf(a));
}

/** Sentence for a channel to which only delayed routes lead, or null for any other. */
export function escalationText(channel: string, alert: Alert, facts: RoutesNow): string | null {
  const due = dueRoutes(channel, alert, facts);
  const [last] = due;
  if (!last || due.some((route) => delayOf(route) === 0)) return null;
  const lacking = last.unlessResolvedAfterMs === undefined ? 'acknowledged' : 'resolved';
  return `Not ${lacking} for ${spanText(delayOf(last))}.`;
}

/** Returns true if each route that leads the alert to the channel is muted. `on`: names of the mute times that are on. */
export function isMuted(
  channel: string,
  alert: Alert,
  { routes, fleet, now, on }: RoutesNow & { readonly on: ReadonlySet<string> },
): boolean {
  if (on.size === 0 || isDisarming(alert)) return false;
  const leading = routes.filter((route) => leadsTo(channel, [route]) && wants(route, alert, fleet));
  const isOn = ({ mute = [], muteCritical = false }: AlertRoute) =>
    (muteCritical || alert.severity !== 'critical') && mute.some((name) => on.has(name));
  // The end of an alert goes the ways of its beginning, also those with a delay.
  const due = leading.filter((route) => alert.resolvedAt !== null || isDue(route, alert, now));
  return due.length > 0 && due.every(isOn);
}

/**
 * Kind of the message for channels that an announced alert came to concern, or null if there are none. Held actions that
 * concern one more account are news for every channel.
 */
export function joinedAs(
  alert: Alert,
  announcement: Announcement | undefined,
  wanted: readonly string[],
  facts: RoutesNow,
): 'worsened' | 'firing' | null {
  const known = announcement?.channels;
  const joined = known == null ? [] : wanted.filter((channel) => !known.includes(channel));
  const late = joined.filter((channel) => dueRoutes(channel, alert, facts).some((route) => delayOf(route) > 0));
  if (ruleBook[alert.rule].shows === 'hold' && late.length < joined.length) return 'worsened';
  return late.length > 0 ? 'firing' : null;
}

/** Returns true for a confirmed pause by Warmwarden, the one event that pages. */
export function isPause({ kind, alert: { rule, facts, mailboxId } }: Transition): boolean {
  const { action, outcome } = facts.numbers;
  return (
    kind === 'event' && rule === 'guard_acted' && mailboxId !== null && action === 'pause' && outcome === 'confirmed'
  );
}

// Names that a channel may show: those in its routes. A channel shows all names if one of its routes names no account,
// tag, provider, domain or mailbox, or if its routes name the whole fleet. Any other channel is a client's.

export interface AlertRoute {
  readonly match: AlertMatch;
  readonly channels: readonly string[];
  /** Delay until its channels get an alert that still fires. At most one of the two delays is set. */
  readonly unlessResolvedAfterMs?: number;
  /** Delay until its channels get an alert that still fires without an acknowledgement. */
  readonly unlessAcknowledgedAfterMs?: number;
  /** Names of mute times. */
  readonly mute?: readonly string[];
  readonly muteCritical?: boolean;
}

/** Relation of an alert to what a channel is told of: it is all within it, in part, or not at all. */
type Concern = 'all' | 'part' | 'none';

export interface Audience {
  /** Returns true if the channel is told of a part of the fleet only. */
  isClient(): boolean;
  sees(mailbox: Pick<MailboxName, 'account' | 'id' | 'email'>): boolean;
  /** Returns true if it is told of everything about the account. */
  seesAll(account: string): boolean;
  concernOf(alert: Alert): Concern;
}

export type KnownFleet = Pick<Fleet, 'accounts' | 'breaker' | 'mailbox' | 'mailboxesOf' | 'tags'>;

const everybody: Audience = { isClient: () => false, sees: () => true, seesAll: () => true, concernOf: () => 'all' };

export function audienceOf(channel: string, routes: readonly AlertRoute[], fleet: KnownFleet): Audience {
  const matches = routes.filter(({ channels }) => channels.includes(channel)).map(({ match }) => match);
  return audienceIn(matches, fleet);
}

/** A channel without a match is told of everything. */
export function audienceIn(matches: readonly AlertMatch[], fleet: KnownFleet): Audience {
  const isWide = (match: AlertMatch) => isOfAccounts(match) && isUnlimited(match.account) && match.tag === undefined;
  return matches.length === 0 || matches.some(isWide) ? everybody : clientAudience(matches, fleet);
}

/** True if the match picks whole accounts, or mailboxes by their tags. A mailbox may have no provider and no tag. */
function isOfAccounts({ mailbox, domain, provider }: AlertMatch): boolean {
  return isUnlimited(mailbox) && isUnlimited(domain) && provider === undefined;
}

function clientAudience(matches: readonly AlertMatch[], fleet: KnownFleet): Audience {
  const sees: Audience['sees'] = ({ account, id, email }) =>
    matches.some(
      (match) =>
        fits(match.account, account) &&
        fits(match.domain, domainOf(email)) &&
        fitsAny(match.tag, () => fleet.tags.of({ account, id, email })) &&
        fitsAny(match.provider, () => providersOf([fleet.mailbox(account, id)])) &&
        (match.mailbox?.some((pattern) => namesMailbox(pattern, { id, email })) ?? true),
    );
  const picks = (account: string, tags: readonly string[]) =>
    matches.some((match) => isOfAccounts(match) && fits(match.account, account) && fitsAny(match.tag, () => tags));
  // Goes by the configuration alone: the mailboxes of others may have left, or be awaited.
  const seesAll = (account: string) =>
    picks(account, []) || fleet.tags.choicesOf(account).some((tags) => tags.every((tag) => picks(account, [tag])));
  const seesSome = (account: string) => seesAll(account) || [...fleet.mailboxesOf(account)].some(sees);
  const seesFleet = () => {
    const accounts = [...fleet.accounts()];
    return accounts.length > 0 && accounts.every(({ name }) => seesAll(name));
  };
  const namesDomain = ({ account, object }: Alert) =>
    matches.some(
      ({ domain, tag, ...match }) =>
        domain !== undefined &&
        tag === undefined &&
        isOfAccounts(match) &&
        fits(match.account, account) &&
        fits(domain, object ?? ''),
    );
  const concernOf = (alert: Alert): Concern => {
    const { account, mailboxId, email } = alert;
    if (mailboxId !== null || email !== null)
      return sees({ account, id: mailboxId ?? '', email: email ?? '' }) ? 'all' : 'none';
    const accounts = accountsOf(alert);
    if (accounts.length === 0) return seesFleet() ? 'all' : concernsEverybody(alert) ? 'part' : 'none';
    if (accounts.every(seesAll)) return 'all';
    const held = heldBy(alert, fleet);
    if (held.length > 0) return held.some(sees) ? 'part' : 'none';
    const senders = sendersOf(alert, fleet);
    if (senders.length > 0) return senders.every(sees) ? 'all' : senders.some(sees) ? 'part' : 'none';
    if (namesDomain(alert)) return 'all';
    return accounts.some(seesSome) ? 'part' : 'none';
  };
  return { isClient: () => !seesFleet(), sees, seesAll, concernOf };
}

/** Returns true for missing protection, a crash and a failing store: then no mailbox is guarded as its owner expects. */
function concernsEverybody(alert: Alert): boolean {
  const protection = protectionOf(alert);
  return (
    alert.rule === 'crashed' || alert.rule === 'store_failing' || (protection !== null && protection !== 'account')
  );
}

interface AlertTraits {
  readonly tags: readonly string[];
  readonly providers: readonly string[];
}

/**
 * Tags and providers of an alert in one of its accounts: those of its mailbox, the tags that all mailboxes of its domain
 * share, those of the mailbox that an IP address was seen with, or the tags of the account.
 */
export function traitsOf({ mailboxId, email, object, facts }: Alert, account: string, fleet: KnownFleet): AlertTraits {
  if (mailboxId !== null || email !== null) {
    const known = fleet.mailbox(account, mailboxId ?? '');
    const named = { account, id: mailboxId ?? '', email: email ?? known?.email ?? '' };
    return { tags: fleet.tags.of(named), providers: providersOf([known]) };
  }
  const [first, ...others] = mailboxesIn(fleet, account, object);
  const isShared = (tag: string) => others.every((one) => fleet.tags.of(one).includes(tag));
  if (first) return { tags: fleet.tags.of(first).filter(isShared), providers: providersOf([first, ...others]) };
  const { seen_with: address } = facts.numbers;
  if (typeof address === 'string') return { tags: fleet.tags.of({ account, id: '', email: address }), providers: [] };
  return { tags: fleet.tags.ofAccount(account), providers: [] };
}

function mailboxesIn(fleet: KnownFleet, account: string, domain: string | null): readonly MailboxState[] {
  if (!domain?.includes('.')) return [];
  return [...fleet.mailboxesOf(account)].filter(({ email }) => domainOf(email) === domain);
}

/** Mailboxes that an alert about a domain or an IP address may name: those whose answers named it, and those of the domain. */
function sendersOf({ account, object, facts }: Alert, fleet: KnownFleet): readonly MailboxName[] {
  const senders = [...fleet.mailboxesOf(account)].filter((one) =>
    [domainOf(one.email), domainObject(one), ipObject(one)].includes(object ?? ''),
  );
  // The mailbox that it was seen with may have left.
  const { seen_with: email } = facts.numbers;
  const isThere = typeof email !== 'string' || senders.some((one) => one.email === email);
  return isThere ? senders : [...senders, { account, id: '', email }];
}

function providersOf(mailboxes: readonly (MailboxState | undefined)[]): readonly string[] {
  return [...new Set(mailboxes.flatMap((one) => one?.entry.answer.provider ?? []))];
}

/** True if one of the words fits, or there is no limit. */
function fitsAny(globs: readonly string[] | undefined, words: () => readonly string[]): boolean {
  return globs === undefined || words().some((word) => fits(globs, word));
}

function isUnlimited(globs: readonly string[] | undefined): boolean {
  return globs?.includes('*') ?? true;
}

function fits(globs: readonly string[] | undefined, name: string): boolean {
  return globs?.some((glob) => fitsGlob(glob, name)) ?? true;
}
