// Alerts as values: what is wrong, with whom, since when, and the transitions that people are notified of.

import { type AlertRule, ruleBook } from './alert-rules.ts';
import type { EpochMs } from './time.ts';

export const severities = ['critical', 'warning', 'info'] as const;
export type Severity = (typeof severities)[number];

/** Content of a message about an alert: sentences and numbers, plain text, not escaped. */
export interface AlertFacts {
  readonly title: string;
  /** Sentences about the trouble (with counts, limit and age of the data), the guard's action, and the remedy. */
  readonly sentences: readonly string[];
  readonly numbers: Readonly<Record<string, number | string | null>>;
  /** The accounts that it concerns, when it belongs to none of them alone: what the circuit breaker of an API holds. */
  readonly accounts?: readonly string[];
}

/** The account of what belongs to none: an API's circuit breaker, Warmwarden's own channels, store and configuration. */
export const noAccount = '';

export interface Subject {
  readonly rule: AlertRule;
  readonly account: string;
  readonly mailboxId: string | null;
  readonly email: string | null;
  /** Further part of the identity: a domain, an IP address, an action's id and outcome. */
  readonly object: string | null;
}

/** pending: the condition holds, `for` has not passed. */
type AlertStatus = 'pending' | 'firing' | 'resolved';

export interface Alert extends Subject {
  readonly fingerprint: string;
  readonly severity: Severity;
  readonly status: AlertStatus;
  readonly since: EpochMs;
  readonly firingAt: EpochMs | null;
  readonly resolvedAt: EpochMs | null;
  /** pending by time: when it fires unless its condition ends. null: it waits for a further observation. */
  readonly firesAt: EpochMs | null;
  /** Consecutive observations that speak for the next status (for it while pending, against it while firing). */
  readonly seen: number;
  readonly facts: AlertFacts;
  /** The condition comes and goes: the alert fires until it has been calm for 30 minutes. Absent: the alert is stable. */
  readonly unstable?: Unstable;
}

export interface Unstable {
  /** Number of times that the condition began since the last calm. */
  readonly times: number;
  /** End of the condition, with the facts since then, or null while it holds. */
  readonly calm: { readonly since: EpochMs; readonly facts: AlertFacts } | null;
}

/** True if the alert waits for a further observation, not for a time. */
export function isToBeSeenAgain({ status, firesAt }: Alert): boolean {
  return status === 'pending' && firesAt === null;
}

/**
 * A step that people may be notified of. An event happens once and never resolves. worsened: more severe than announced before, or
 * clearly more of it. reminder: still so, after the repeat interval.
 */
export interface Transition {
  readonly kind: 'firing' | 'worsened' | 'reminder' | 'resolved' | 'event';
  readonly at: EpochMs;
  readonly alert: Alert;
  /** Marks a transition that does not wait for its group's interval. */
  readonly urgent?: true;
  /** Found by the first sweep of a fleet that nobody remembered: announced in the one message of what was found. */
  readonly found?: boolean;
  /** A resolved one that began, too, after people were notified last: its message is the first and the last of it. */
  readonly brief?: boolean;
  /** The end of what was announced to end without a message: only for receivers that keep it open. */
  readonly foretold?: true;
  /** The fingerprint under which it fired before its mailbox or account moved: channels that were notified of that are not notified again. */
  readonly movedFrom?: string;
  /** The end of what was also announced outside of an incident: a receiver may keep it open under its own name. */
  readonly alone?: true;
}

/** Picks alerts, for a route or a silence: all that is given must fit. All but severity are globs (`*`, `?`). */
export interface AlertMatch {
  readonly severity?: readonly Severity[] | undefined;
  readonly account?: readonly string[] | undefined;
  readonly rule?: readonly (AlertRule | string)[] | undefined;
  /** The domain of the mailbox, or the one that the alert is about. */
  readonly domain?: readonly string[] | undefined;
  /** Globs on the address, or exact ids. An alert without a mailbox does not fit. */
  readonly mailbox?: readonly string[] | undefined;
  /**
   * Globs on the alert's object: a domain, an IP address, a channel, the address of an API. An alert without an object
   * does not match.
   */
  readonly object?: readonly string[] | undefined;
}

/** A person's mute, until it expires or is ended. It mutes messages, never monitoring, never the end of what was announced. */
export interface Silence {
  readonly id: string;
  readonly match: AlertMatch;
  readonly by: string;
  readonly reason: string;
  readonly from: EpochMs;
  readonly until: EpochMs;
}

/** Record of the notification of a firing alert: its last moment, its severity then, and its channels. */
export interface Announcement {
  readonly fingerprint: string;
  readonly at: EpochMs;
  readonly severity: Severity;
  /** All that announced it since it fires: they announce its end. null: a version that did not remember announced it. */
  readonly channels: readonly string[] | null;
  /** Why its end is no message to people: they were notified that there will be none. Absent: it is one. */
  readonly quietEnd?: 'too_few' | 'in_incident';
  /** All that was announced of it so far was in messages about an incident. */
  readonly onlyInIncident?: true;
  /** Channels that were notified of the end before the others. */
  readonly closed?: readonly string[];
}

/** Alerts that a tick, an outcome or time moved: what to keep, what to forget, what people may be notified of. */
export interface AlertChanges {
  /** Alerts to store as they are here; a resolved one is announced and then forgotten. */
  readonly changed: readonly Alert[];
  /** Fingerprints of pending alerts that ended before they fired: forgotten, nobody is notified. */
  readonly dropped: readonly string[];
  readonly transitions: readonly Transition[];
}

/** The accounts that an alert is about: none when it is about Warmwarden itself. */
export function accountsOf({ account, facts }: Pick<Alert, 'account' | 'facts'>): readonly string[] {
  return account === noAccount ? (facts.accounts ?? []) : [account];
}

/** Whether the object of an alert is why it fires, and no domain, address or channel. */
export function isCause({ rule, object }: Pick<Subject, 'rule' | 'object'>): boolean {
  return object !== null && ruleBook[rule].causes?.includes(object) === true;
}

export function fingerprintOf(subject: Subject): string {
  return [subject.rule, subject.account, subject.mailboxId ?? '', subject.object ?? ''].join('|');
}

export function bothChanges(a: AlertChanges, b: AlertChanges): AlertChanges {
  return {
    changed: [...a.changed, ...b.changed],
    dropped: [...a.dropped, ...b.dropped],
    transitions: [...a.transitions, ...b.transitions],
  };
}

/** `rule stale_data, dns_*; account acme`. */
export function matchText(match: AlertMatch): string {
  const parts = Object.entries(match).filter(([, words]) => words !== undefined && words.length > 0);
  return parts.map(([name, words]) => `${name} ${words.join(', ')}`).join('; ');
}
