// Finds the recently affected mailboxes and the narrowest cause that explains those that bounce at the same time. Pure;
// the order of the mailboxes does not matter. docs/notifications.md, "Incidents", has the rules in words.

import type { Action } from '../core/action.ts';
import type { Alert, Transition } from '../core/alert.ts';
import { ruleBook } from '../core/alert-rules.ts';
import { type BreakerState, heldEntries } from '../core/guard/breaker.ts';
import {
  type Incident,
  type IncidentCause,
  type IncidentMailbox,
  memberStates,
  type SharedAttribute,
  sharedAttributes,
} from '../core/incident.ts';
import { domainOf, type MailboxState, mailboxKey } from '../core/mailbox.ts';
import { compareTexts } from '../core/nearest.ts';
import { dayMs, type EpochMs, hourMs } from '../core/time.ts';
import { worstOf } from './grouping.ts';

export interface Affected {
  readonly key: string;
  readonly mailbox: IncidentMailbox;
  /** Kinds of its bounces that are most frequent, in the API's words. The list is empty if no bounce is shown. */
  readonly kinds: readonly string[];
  /** Values that mailboxes may share, each null if unknown. */
  readonly traits: Readonly<Record<SharedAttribute, string | null>>;
}

const noticedForMs = dayMs;
/** Time after the first sight of a mailbox in which a finding begins no incident, because the trouble may be older. */
const firstSeenForMs = hourMs;

type ApiOf = (account: string) => string | null;

interface AffectedFacts {
  readonly now: EpochMs;
  readonly mailboxes: Iterable<MailboxState>;
  readonly firing: readonly Alert[];
  readonly breakers: Iterable<readonly [api: string, state: BreakerState]>;
  /** Transitions without a notification, which show how severe an action is. */
  readonly unnotified: readonly Transition[];
  readonly apiOf: ApiOf;
}

export function affectedMailboxes(facts: AffectedFacts): ReadonlyMap<string, Affected> {
  const { now, firing, breakers, unnotified, apiOf } = facts;
  const alerts = byMailbox(firing.filter(({ rule }) => ruleBook[rule].shows === 'bounces'));
  const held = heldSince(breakers);
  const acted = byMailbox(unnotified.map(({ alert }) => alert).filter(({ rule }) => rule === 'guard_acted'));
  const found = new Map<string, Affected>();
  for (const mailbox of facts.mailboxes) {
    const key = mailboxKey(mailbox.account, mailbox.id);
    // A mailbox with too few bounces is part of no incident: every large fleet has some on most days.
    const isTooFew = mailbox.verdict?.answer.reason === 'insufficient_evidence';
    const steps = [
      ...(isTooFew ? [] : (alerts.get(key) ?? [])).map(stepOfAlert),
      ...stepOfHold(held.get(key)),
      ...stepOfAction(mailbox.action, acted.get(key) ?? []),
    ];
    const one = memberOf(mailbox, steps, now);
    if (one) found.set(key, { key, mailbox: one, kinds: mainKinds(mailbox), traits: traitsOf(mailbox, apiOf) });
  }
  return found;
}

/** Returns null if nothing is recent, or everything was found at first sight. */
function memberOf(mailbox: MailboxState, steps: readonly MemberStep[], now: EpochMs): IncidentMailbox | null {
  const recent = steps.filter(({ since, goesOn }) => goesOn || since > now - noticedForMs);
  const worst = recent.toSorted((a, b) => memberStates.indexOf(a.state) - memberStates.indexOf(b.state))[0];
  if (!worst || worst.since < mailbox.firstSeenAt + firstSeenForMs) return null;
  // After an action, the counts begin again: those that led to it are shown.
  const isActed = worst.state === 'recovery' || worst.state === 'paused' || worst.state === 'failed';
  const verdict = (isActed && mailbox.action?.verdict) || mailbox.verdict?.answer;
  const { account, id: mailboxId, email } = mailbox;
  const counts = { sent: verdict?.sent ?? 0, bounced: verdict?.bounced ?? 0 };
  const severity = worstOf(recent.map((one) => one.severity));
  const goesOn = recent.some((one) => one.goesOn);
  const { state, since } = worst;
  return { account, mailboxId, email, state, since, ...counts, severity, goesOn };
}

type MemberStep = Pick<IncidentMailbox, 'state' | 'since' | 'severity' | 'goesOn'>;

function stepOfAlert({ rule, severity, firingAt, since }: Alert): MemberStep {
  return { state: rule === 'bounce_burst' ? 'burst' : 'not_acted', since: firingAt ?? since, severity, goesOn: true };
}

function stepOfHold(since: EpochMs | undefined): readonly MemberStep[] {
  return since === undefined ? [] : [{ state: 'held', since, severity: 'critical', goesOn: true }];
}

function stepOfAction(action: Action | null, events: readonly Alert[]): readonly MemberStep[] {
  if (!action || action.by !== null || (action.kind !== 'recovery' && action.kind !== 'pause')) return [];
  if (action.state === 'planned' || action.state === 'dropped') return [];
  const usual = action.kind === 'pause' ? 'critical' : 'warning';
  const severity = worstOf([usual, ...events.map((one) => one.severity)]);
  const failed = action.state === 'refused' || action.state === 'unconfirmed';
  const state = failed ? 'failed' : action.kind === 'pause' ? 'paused' : 'recovery';
  return [{ state, since: action.openedAt, severity, goesOn: action.state === 'open' || action.nextTryAt !== null }];
}

/** True if Warmwarden switched or paused the mailbox within the time in which an incident may begin. */
export function isChangedLately({ action }: Pick<MailboxState, 'action'>, now: EpochMs): boolean {
  return stepOfAction(action, []).some(({ since, state }) => state !== 'failed' && since > now - noticedForMs);
}

/** Mailboxes held at first sight are left out, because their trouble may be older. */
function heldSince(breakers: AffectedFacts['breakers']): ReadonlyMap<string, EpochMs> {
  const held = new Map<string, EpochMs>();
  for (const [, state] of breakers) {
    for (const { key, at, firstSight, heldSince: since } of heldEntries(state))
      if (!firstSight) held.set(key, since ?? state.openSince ?? at);
  }
  return held;
}

function byMailbox(alerts: readonly Alert[]): ReadonlyMap<string, readonly Alert[]> {
  const ofMailboxes = alerts.filter(({ mailboxId }) => mailboxId !== null);
  return Map.groupBy(ofMailboxes, ({ account, mailboxId }) => mailboxKey(account, mailboxId ?? ''));
}

/** True if a mailbox of an account and domain is in the incident, or shares its cause and its kind of bounce. */
export function showsIncident(
  { cause, kind, members }: Pick<Incident, 'cause' | 'kind' | 'members'>,
  { account, domain }: { readonly account: string; readonly domain: string },
  mailboxes: readonly MailboxState[],
  apiOf: ApiOf,
): boolean {
  const isThere = (one: Pick<MailboxState, 'account' | 'email'>) =>
    one.account === account && domainOf(one.email) === domain;
  const shares = (one: MailboxState) =>
    kind !== null && mainKinds(one).includes(kind) && traitOf[cause.attribute](one, apiOf) === cause.value;
  return members.some(isThere) || mailboxes.some((one) => isThere(one) && shares(one));
}

/** Returns kinds such as `block (policy_block)`. */
function mainKinds({ warmup }: MailboxState): readonly string[] {
  const kinds = (warmup?.answer.recentBounces ?? []).flatMap(({ type, category }) =>
    type === null && category === null
      ? []
      : (category === null ? `${type}` : `${type ?? 'bounce'} (${category})`).toLowerCase(),
  );
  const counts = countsOf(kinds);
  const most = Math.max(...counts.values());
  return [...counts].filter(([, count]) => count === most).map(([kind]) => kind);
}

function countsOf(words: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

function traitsOf(mailbox: MailboxState, apiOf: ApiOf): Affected['traits'] {
  const traits = sharedAttributes.map((attribute) => [attribute, traitOf[attribute](mailbox, apiOf)] as const);
  return Object.fromEntries(traits) as Affected['traits'];
}

export const traitOf: Readonly<Record<SharedAttribute, (mailbox: MailboxState, apiOf: ApiOf) => string | null>> = {
  domain: ({ email }) => domainOf(email),
  ip: ({ blacklist }) => blacklist?.answer.ip ?? null,
  provider: ({ entry }) => entry.answer.provider?.toLowerCase() ?? null,
  account: ({ account }) => account,
  base_url: ({ account }, apiOf) => apiOf(account),
};

export interface Shared {
  readonly cause: IncidentCause;
  readonly kind: string | null;
  readonly members: readonly Affected[];
}

/** Minimum mailboxes of an incident. */
const leastMembers: Readonly<Record<SharedAttribute, number>> = {
  domain: 3,
  ip: 3,
  provider: 3,
  // A whole account in common says little, so the minimum is the number that opens the circuit breaker.
  account: 5,
  base_url: 5,
};
/** Fleet size that raises the minimum by one, because some of many bounce at the same time by chance. */
const oneMoreEvery = 200;
/** A cause wider than a domain explains nothing that one or two domains explain. */
const leastDomains = 3;
const explains = (some: number, all: number) => some * 5 >= all * 4;
const isSpread = (largest: number, all: number) => (all - largest) * 3 >= all;

interface Search {
  readonly attributes: readonly SharedAttribute[];
  readonly sharing: (cause: IncidentCause) => number;
}

/** No mailbox is in two causes; one that shares nothing is in none. */
export function sharedCauses(
  affected: readonly Affected[],
  { attributes = sharedAttributes, sharing }: Pick<Search, 'sharing'> & Partial<Search>,
): readonly Shared[] {
  const kinds = [...byMainKind(affected)].sort(([a], [b]) => compareTexts(a ?? '', b ?? ''));
  return kinds.flatMap(([kind, pool]) =>
    explained(
      pool.toSorted((a, b) => compareTexts(a.key, b.key)),
      { attributes, sharing },
    ).map((one) => ({ ...one, kind })),
  );
}

/** Among equally frequent kinds of a mailbox, the one that most other mailboxes have counts. */
function byMainKind(affected: readonly Affected[]): ReadonlyMap<string | null, readonly Affected[]> {
  const counts = countsOf(affected.flatMap(({ kinds }) => kinds));
  const byFrequency = (a: string, b: string) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0) || compareTexts(a, b);
  return Map.groupBy(affected, ({ kinds }) => kinds.toSorted(byFrequency)[0] ?? null);
}

type SharedValue = Omit<Shared, 'kind'>;

function explained(pool: readonly Affected[], search: Search): readonly SharedValue[] {
  const chosen = choose(pool, search);
  if (!chosen) return [];
  const taken = new Set(chosen.members);
  const rest = pool.filter((one) => !taken.has(one));
  return [chosen, ...explained(rest, search)];
}

/**
 * Returns the narrowest candidate that explains most of the pool, or the larger of two narrower ones that do so together; else the
 * largest, if any.
 */
function choose(pool: readonly Affected[], { attributes, sharing }: Search): SharedValue | null {
  const candidates = attributes
    .flatMap((attribute) => candidatesOf(attribute, pool))
    .filter((one) => isMoreThanChance(one, sharing));
  for (const attribute of attributes) {
    const [best] = candidates.filter(({ cause }) => cause.attribute === attribute);
    if (!best || !explains(best.members.length, pool.length)) continue;
    const narrower = candidates.filter(({ cause }) => breadth(cause.attribute) < breadth(attribute));
    return pairOf(narrower, pool.length) ?? best;
  }
  return [...candidates].sort(byCount)[0] ?? null;
}

function candidatesOf(attribute: SharedAttribute, pool: readonly Affected[]): readonly SharedValue[] {
  return [...Map.groupBy(pool, ({ traits }) => traits[attribute])]
    .flatMap(([value, members]) => (value === null ? [] : [{ cause: { attribute, value }, members }]))
    .filter((one) => isEnough(one))
    .sort(byCount);
}

function isEnough({ cause: { attribute }, members }: SharedValue): boolean {
  if (members.length < leastMembers[attribute]) return false;
  if (attribute === 'domain') return true;
  const domains = countsOf(members.map(({ mailbox }) => domainOf(mailbox.email)));
  return domains.size >= leastDomains && isSpread(Math.max(...domains.values()), members.length);
}

/** A domain never needs more than the minimum, because it is small and its mailboxes have a whole day. */
function isMoreThanChance({ cause, members }: SharedValue, sharing: Search['sharing']): boolean {
  if (cause.attribute === 'domain') return true;
  return members.length >= leastMembers[cause.attribute] + Math.floor(sharing(cause) / oneMoreEvery);
}

/** Returns the larger of two disjoint candidates that together explain most mailboxes. */
function pairOf(candidates: readonly SharedValue[], all: number): SharedValue | null {
  const sorted = [...candidates].sort(byCount);
  for (const [index, one] of sorted.entries()) {
    const next = sorted[index + 1];
    if (!next || !explains(one.members.length + next.members.length, all)) return null;
    const own = new Set(one.members);
    const other = sorted.slice(index + 1).find(({ members }) => members.every((member) => !own.has(member)));
    if (other && explains(one.members.length + other.members.length, all)) return one;
  }
  return null;
}

/** Rank among the attributes, the narrowest first. */
export function breadth(attribute: SharedAttribute): number {
  return sharedAttributes.indexOf(attribute);
}

function byCount(a: SharedValue, b: SharedValue): number {
  const wider = breadth(a.cause.attribute) - breadth(b.cause.attribute);
  return b.members.length - a.members.length || wider || compareTexts(a.cause.value, b.cause.value);
}
