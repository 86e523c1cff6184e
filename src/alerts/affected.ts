// Finds the mailboxes whose bounces the guard or an alert noticed recently, as the fleet's state shows them. Pure.

import type { Action } from '../core/action.ts';
import type { Alert, Severity, Transition } from '../core/alert.ts';
import { ruleBook } from '../core/alert-rules.ts';
import { type BreakerState, heldEntries } from '../core/guard/breaker.ts';
import {
  type Incident,
  type IncidentMailbox,
  type MemberState,
  memberStates,
  type SharedAttribute,
  sharedAttributes,
} from '../core/incident.ts';
import { domainOf, idOfKey, type MailboxState, mailboxKey } from '../core/mailbox.ts';
import { dayMs, type EpochMs, hourMs } from '../core/time.ts';
import { worstOf } from './grouping.ts';
import type { Affected } from './shared-cause.ts';

/** Maximum age of an occurrence that can begin an incident. */
const noticedForMs = dayMs;
/** Time after the first sight of a mailbox in which a finding begins no incident, because the trouble may be older. */
const firstSeenForMs = hourMs;

export interface AffectedFacts {
  readonly now: EpochMs;
  readonly mailboxes: Iterable<MailboxState>;
  readonly firing: readonly Alert[];
  readonly breakers: Iterable<readonly [api: string, state: BreakerState]>;
  /** Transitions without a notification, which show how severe an action is. */
  readonly unnotified: readonly Transition[];
  /** Returns the base_url of an account, or null if the account is not configured. */
  readonly apiOf: (account: string) => string | null;
}

/** Returns the affected mailboxes by key. */
export function affectedMailboxes(facts: AffectedFacts): ReadonlyMap<string, Affected> {
  const { now, firing, breakers, unnotified, apiOf } = facts;
  const alerts = byMailbox(firing.filter(isOwn));
  const held = heldSince(breakers);
  const acted = byMailbox(unnotified.map(({ alert }) => alert).filter(({ rule }) => rule === 'guard_acted'));
  // Mailboxes outside this set and without an action cannot be affected. Most of a large fleet is skipped at once this
  // way.
  const noticed = new Set([...alerts.keys(), ...held.keys()].map(idOfKey));
  const found = new Map<string, Affected>();
  for (const mailbox of facts.mailboxes) {
    if (mailbox.action === null && !noticed.has(mailbox.id)) continue;
    const key = mailboxKey(mailbox.account, mailbox.id);
    const steps = [
      ...(isTooFew(mailbox) ? [] : (alerts.get(key) ?? [])).map(stepOfAlert),
      ...stepOfHold(held.get(key)),
      ...stepOfAction(mailbox.action, acted.get(key) ?? []),
    ];
    const one = memberOf(mailbox, steps, now);
    if (one) found.set(key, { key, mailbox: one, kinds: mainKinds(mailbox), traits: traitsOf(mailbox, apiOf) });
  }
  return found;
}

/**
 * Returns the mailbox as part of an incident, or null if nothing about it is recent or everything was found at first
 * sight.
 */
function memberOf(mailbox: MailboxState, steps: readonly MemberStep[], now: EpochMs): IncidentMailbox | null {
  const recent = steps.filter(({ since, goesOn }) => goesOn || since > now - noticedForMs);
  const worst = recent.toSorted((a, b) => memberStates.indexOf(a.state) - memberStates.indexOf(b.state))[0];
  if (!worst || worst.since < mailbox.firstSeenAt + firstSeenForMs) return null;
  const verdict = mailbox.verdict?.answer;
  const { account, id: mailboxId, email } = mailbox;
  const counts = { sent: verdict?.sent ?? 0, bounced: verdict?.bounced ?? 0 };
  const severity = worstOf(recent.map((one) => one.severity));
  const goesOn = recent.some((one) => one.goesOn);
  const { state, since } = worst;
  return { account, mailboxId, email, state, since, ...counts, severity, goesOn };
}

interface MemberStep {
  readonly state: MemberState;
  readonly since: EpochMs;
  readonly severity: Severity;
  readonly goesOn: boolean;
}

function isOwn({ rule }: Alert): boolean {
  return ruleBook[rule].shows === 'bounces';
}

/**
 * Returns true if the bounces are too few to act on. Such mailboxes are part of no incident, because every large fleet
 * has some on most days.
 */
function isTooFew({ verdict }: MailboxState): boolean {
  return verdict?.answer.reason === 'insufficient_evidence';
}

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

/**
 * Returns the start of the breaker's hold by mailbox key. Mailboxes held at first sight are left out, because their
 * trouble may be older.
 */
function heldSince(breakers: AffectedFacts['breakers']): ReadonlyMap<string, EpochMs> {
  const held = new Map<string, EpochMs>();
  for (const [, state] of breakers) {
    for (const { key, at, firstSight } of heldEntries(state)) if (!firstSight) held.set(key, state.openSince ?? at);
  }
  return held;
}

function byMailbox(alerts: readonly Alert[]): ReadonlyMap<string, readonly Alert[]> {
  const found = new Map<string, Alert[]>();
  for (const alert of alerts) {
    if (alert.mailboxId === null) continue;
    const key = mailboxKey(alert.account, alert.mailboxId);
    found.set(key, [...(found.get(key) ?? []), alert]);
  }
  return found;
}

/**
 * Returns the domains, as `ACCOUNT DOMAIN`, of an incident's mailboxes and of the mailboxes that share its cause and
 * kind of bounce without being over a limit themselves.
 */
export function domainsShowing(
  { cause, kind, members }: Pick<Incident, 'cause' | 'kind' | 'members'>,
  mailboxes: Iterable<MailboxState>,
  apiOf: AffectedFacts['apiOf'],
): ReadonlySet<string> {
  const found = new Set(members.map(domainKeyOf));
  for (const mailbox of mailboxes) {
    if (kind === null || !mainKinds(mailbox).includes(kind)) continue;
    if (traitOf(mailbox, cause.attribute, apiOf) === cause.value) found.add(domainKeyOf(mailbox));
  }
  return found;
}

function domainKeyOf({ account, email }: { readonly account: string; readonly email: string }): string {
  return domainKey(account, domainOf(email));
}

export function domainKey(account: string, domain: string): string {
  return `${account} ${domain}`;
}

/** Returns the most frequent kinds of the recent bounces, such as `block (policy_block)`. */
function mainKinds({ warmup }: MailboxState): readonly string[] {
  const bounces = warmup?.answer.recentBounces ?? [];
  if (bounces.length === 0) return [];
  const counts = new Map<string, number>();
  for (const { type, category } of bounces) {
    if (type === null && category === null) continue;
    const kind = (category === null ? `${type}` : `${type ?? 'bounce'} (${category})`).toLowerCase();
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  const most = Math.max(...counts.values());
  return [...counts].filter(([, count]) => count === most).map(([kind]) => kind);
}

/** Returns the attributes that a mailbox may share with others. */
function traitsOf(mailbox: MailboxState, apiOf: AffectedFacts['apiOf']): Affected['traits'] {
  const traits = sharedAttributes.map((attribute) => [attribute, traitOf(mailbox, attribute, apiOf)] as const);
  return Object.fromEntries(traits) as Record<SharedAttribute, string | null>;
}

/** Returns an attribute of a mailbox, or null if it is unknown. */
export function traitOf(
  mailbox: MailboxState,
  attribute: SharedAttribute,
  apiOf: AffectedFacts['apiOf'],
): string | null {
  switch (attribute) {
    case 'domain':
      return domainOf(mailbox.email);
    case 'ip':
      return mailbox.blacklist?.answer.ip ?? null;
    case 'provider':
      return mailbox.entry.answer.provider?.toLowerCase() ?? null;
    case 'account':
      return mailbox.account;
    case 'base_url':
      return apiOf(mailbox.account);
  }
}
