// Alerts as values: what is wrong, with whom, since when, and the transitions that people are told of.
import type { EpochMs } from './time.ts';

export const severities = ['critical', 'warning', 'info'] as const;
export type Severity = (typeof severities)[number];

/** The rules of DESIGN.md section 9 that this version evaluates. */
export const alertRules = [
  'guard_acted',
  'restored',
  'guard_held',
  'contested',
  'recovery_without_effect',
  'restore_overdue',
  'guard_action_failed',
  'guard_blind',
  'bounce_over_limit',
  'bounce_near_limit',
  'dns_failing',
  'blacklisted',
  'mailbox_disconnected',
  'api_down',
  'stale_data',
] as const;
export type AlertRule = (typeof alertRules)[number];

/** What a message says of an alert: sentences and numbers, plain text, not escaped. */
export interface AlertFacts {
  /** One line: who and what. */
  readonly title: string;
  /** What, with the counts, the limit and the age of the data; what was done; what to do. */
  readonly sentences: readonly string[];
  /** Numbers for machines, stable names in snake_case. */
  readonly numbers: Readonly<Record<string, number | string | null>>;
}

/** Identity and text of something that is, or is not, the case. */
export interface Subject {
  readonly rule: AlertRule;
  readonly account: string;
  /** The mailbox's id and address when the rule is about one. */
  readonly mailboxId: string | null;
  readonly email: string | null;
  /** What else tells two alerts apart: a domain, an ip, an action's id and outcome. */
  readonly object: string | null;
}

/** pending: the condition holds, `for` has not passed. */
export type AlertStatus = 'pending' | 'firing' | 'resolved';

export interface Alert extends Subject {
  /** rule, account, mailbox and object, joined: the identity. */
  readonly fingerprint: string;
  readonly severity: Severity;
  readonly status: AlertStatus;
  /** Since when the condition holds. */
  readonly since: EpochMs;
  readonly firingAt: EpochMs | null;
  readonly resolvedAt: EpochMs | null;
  /** pending by time: when it fires unless its condition ends. null: it waits for a further observation. */
  readonly firesAt: EpochMs | null;
  /** Consecutive observations that speak for the next status (for it while pending, against it while firing). */
  readonly seen: number;
  readonly facts: AlertFacts;
}

/** A step that people may be told of. An event happens once and never resolves. */
export interface Transition {
  readonly kind: 'firing' | 'resolved' | 'event';
  readonly at: EpochMs;
  readonly alert: Alert;
}

/** Alerts that a tick, an outcome or time moved: what to keep, what to forget, what people may be told. */
export interface AlertChanges {
  /** To be kept as they are here; resolved ones are told and then forgotten. */
  readonly changed: readonly Alert[];
  /** Fingerprints of pending alerts that ended before they fired: forgotten, nobody is told. */
  readonly dropped: readonly string[];
  readonly transitions: readonly Transition[];
}

export function fingerprintOf(subject: Subject): string {
  return [subject.rule, subject.account, subject.mailboxId ?? '', subject.object ?? ''].join('|');
}
