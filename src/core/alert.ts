// Alerts as values, and the transitions that people are notified of.

import { createHash } from 'node:crypto';
import { type AlertRule, ruleBook, type Severity } from './alert-rules.ts';
import { addDays, dayOf, type EpochMs, momentAt, timeOfDayMs, wallClock } from './time.ts';

export interface AlertFacts {
  readonly title: string;
  readonly sentences: readonly string[];
  readonly numbers: Readonly<Record<string, number | string | null>>;
  /** Accounts that an alert concerns that belongs to none of them alone. */
  readonly accounts?: readonly string[];
  /** Tags of the subject, in messages only: a reload may change them. */
  readonly tags?: readonly string[];
  /** Provider of all its mailboxes, in messages only. */
  readonly provider?: string;
  /** Set if the words keep from a client what the alert is about. */
  readonly withheld?: true;
}

/** Account of an alert about an API's circuit breaker, or Warmwarden's own channels, store or configuration. */
export const noAccount = '';

export interface Subject {
  readonly rule: AlertRule;
  readonly account: string;
  readonly mailboxId: string | null;
  readonly email: string | null;
  /** Further part of the identity, such as an IP address. */
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
  /** Time at which a pending alert fires unless its condition ends, or null if it waits for an observation. */
  readonly firesAt: EpochMs | null;
  readonly seen: number;
  readonly facts: AlertFacts;
  /** Set while the condition comes and goes: the alert fires until it has been calm for 30 minutes. */
  readonly unstable?: Unstable;
  /** Set once a person takes care of it. It ends with the alert, or when the alert gets worse. */
  readonly acknowledged?: Acknowledgement;
}

export interface Acknowledgement {
  readonly by: string;
  /** Empty if none was given. */
  readonly reason: string;
  readonly at: EpochMs;
}

export interface Unstable {
  readonly times: number;
  readonly calm: { readonly since: EpochMs; readonly facts: AlertFacts } | null;
}

export function isToBeSeenAgain({ status, firesAt }: Alert): boolean {
  return status === 'pending' && firesAt === null;
}

/** Step that people may be notified of. worsened: more severe than announced, or clearly more. */
export interface Transition {
  readonly kind: 'firing' | 'worsened' | 'reminder' | 'resolved' | 'event';
  readonly at: EpochMs;
  readonly alert: Alert;
  /** Marks a transition that does not wait for its group's interval. */
  readonly urgent?: true;
  /** Marks a firing alert that goes to channels of delayed routes, and to none that was notified of it. */
  readonly escalated?: true;
  /** True if the first sweep of an unknown fleet found the alert. One message announces all of these. */
  readonly found?: boolean;
  /** True if the alert began and ended after the last notification: its one message is the first and the last. */
  readonly brief?: boolean;
  /** Marks an end that was announced to have no message: only receivers that keep the alert open get it. */
  readonly foretold?: true;
  /** Fingerprint from before a move of the mailbox or account. Channels that announced that one stay quiet. */
  readonly movedFrom?: string;
  /** Marks the end of an alert that was also announced outside of an incident, where a receiver may keep it open. */
  readonly alone?: true;
}

/** Picks alerts, for a route or a silence: all given fields must fit. All but severity are globs (`*`, `?`). */
export interface AlertMatch {
  readonly severity?: readonly Severity[] | undefined;
  readonly account?: readonly string[] | undefined;
  /** Globs on a tag: `vip`, `client=*`. An alert about an account has the tags of the account. */
  readonly tag?: readonly string[] | undefined;
  readonly provider?: readonly string[] | undefined;
  readonly rule?: readonly (AlertRule | string)[] | undefined;
  readonly domain?: readonly string[] | undefined;
  /** Globs on the address, or exact ids. An alert without a mailbox does not fit. */
  readonly mailbox?: readonly string[] | undefined;
  /** Globs on the alert's object, such as a channel. An alert without an object does not match. */
  readonly object?: readonly string[] | undefined;
}

/** A person's mute of messages. Monitoring goes on, and the end of an announced alert is still sent. */
export interface Silence {
  readonly id: string;
  readonly match: AlertMatch;
  readonly by: string;
  readonly reason: string;
  readonly from: EpochMs;
  readonly until: EpochMs;
  /** Absent for a silence that occurs once. `from` and `until` are then those of one window. */
  readonly repeats?: Repetition;
}

export const periods = ['day', 'week'] as const;

/** Windows that begin at the same time of day by the clock of `timeZone`. None begins at `ends` or later. */
export interface Repetition {
  readonly every: (typeof periods)[number];
  readonly timeZone: string;
  readonly ends: EpochMs | null;
}

/** Returns the silence with its window that is in force or next, or null if it is over. */
export function windowOf(silence: Silence, now: EpochMs): Silence | null {
  const { from, until, repeats } = silence;
  if (!repeats || until > now) return until > now ? silence : null;
  const { every, timeZone, ends } = repeats;
  const first = wallClock(from, timeZone);
  const daysBetween = every === 'day' ? 1 : 7;
  const days = dayOf(wallClock(now, timeZone).date) - dayOf(first.date);
  // A window is shorter than its period, so the last one that began may still be in force.
  for (let window = Math.max(0, Math.floor(days / daysBetween) - 1); ; window += 1) {
    const begin = momentAt(addDays(first.date, window * daysBetween), timeOfDayMs(first.time), timeZone);
    if (ends !== null && begin >= ends) return null;
    if (begin + until - from > now) return { ...silence, from: begin, until: begin + until - from };
  }
}

export interface Announcement {
  readonly fingerprint: string;
  readonly at: EpochMs;
  readonly severity: Severity;
  readonly channels: readonly string[] | null;
  /** Reason for an end without a message to people. */
  readonly quietEnd?: 'too_few' | 'in_incident';
  readonly onlyInIncident?: true;
  /** Channels that were notified of the end before the others. */
  readonly closed?: readonly string[];
}

export interface AlertChanges {
  /** Alerts to store; a resolved one is announced and then forgotten. */
  readonly changed: readonly Alert[];
  readonly dropped: readonly string[];
  readonly transitions: readonly Transition[];
}

export function accountsOf({ account, facts }: Pick<Alert, 'account' | 'facts'>): readonly string[] {
  return account === noAccount ? (facts.accounts ?? []) : [account];
}

export function isCause({ rule, object }: Pick<Subject, 'rule' | 'object'>): boolean {
  return object !== null && ruleBook[rule].causes?.includes(object) === true;
}

export function fingerprintOf(subject: Subject): string {
  return [subject.rule, subject.account, subject.mailboxId ?? '', subject.object ?? ''].join('|');
}

const idLetters = 10;

/** Digest of the words in hex, with this many letters. */
export function wordsDigest(words: readonly unknown[], letters: number): string {
  return createHash('sha256').update(JSON.stringify(words)).digest('hex').slice(0, letters);
}

/** Id of one firing of the alert, short enough to type. The next firing has another one. */
export function alertId({ fingerprint, firingAt }: Pick<Alert, 'fingerprint' | 'firingAt'>): string {
  return wordsDigest([fingerprint, firingAt], idLetters);
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
