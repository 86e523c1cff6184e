// Input and output of the rules: the context, and a condition as one answer shows it.

import {
  type Alert,
  type AlertFacts,
  fingerprintOf,
  type Severity,
  type Subject,
  type Transition,
} from '../core/alert.ts';
import type { AlertRule } from '../core/alert-rules.ts';
import type { MeasuredRoute, RecentBounce, StaleMeasurement } from '../core/answers.ts';
import type { MailboxState } from '../core/mailbox.ts';
import type { Policy } from '../core/policy.ts';
import { defaultRuleSettings, type RuleSettings } from '../core/rule-settings.ts';
import { type EpochMs, secondMs } from '../core/time.ts';
import type { Others } from '../core/wording/causes.ts';
import type { WritesOff } from '../core/write-scope.ts';

/** Result of a rule for one subject, from one answer or from the passing of time. */
export interface Condition {
  readonly subject: Subject;
  readonly severity: Severity;
  /** `unknown` if nothing was learned: the condition neither fires nor resolves nor counts. */
  readonly active: boolean | 'unknown';
  /**
   * True if the trouble is still visible although `active` is unknown: it counted already, or another reason keeps
   * Warmwarden from acting. The alert takes over the words of the condition; a function selects the alerts that do.
   */
  readonly stillShown?: boolean | ((alert: Alert) => boolean);
  /** Time that the condition must last before it fires; 0 fires at once. */
  readonly forMs: number;
  /** Number of consecutive observations before it fires: 1 or 2. */
  readonly observations: number;
  /** Number of consecutive observations of the opposite before it resolves. */
  readonly clearObservations: number;
  /**
   * True if the condition got clearly worse than its firing alert says, at the same severity, so people are notified
   * again. `at_once` ignores the interval since their last notification.
   */
  readonly worse?: boolean | 'at_once';
  /** Start of the condition, if it is known better than "now". */
  readonly since?: EpochMs;
  readonly facts: AlertFacts;
}

/** Title of a message and its sentences; empty ones are left out. */
export type Words = readonly [title: string, ...sentences: readonly (string | false | null | undefined)[]];

export interface RuleFinding extends Partial<Omit<Condition, 'subject' | 'active' | 'facts'>> {
  readonly active: Condition['active'];
  /** Words while the trouble is there, or nothing was learned. */
  readonly firing: () => Words;
  /** Words when it is over; absent if they are the same. */
  readonly ended?: () => Words;
  readonly numbers?: () => AlertFacts['numbers'];
  readonly accounts?: readonly string[];
}

/**
 * Returns the condition of a rule. Without other fields it has the rule's severity, fires with the first observation,
 * and resolves with the first observation of the opposite. Its words are made when they are read: most never are.
 */
export function condition(subject: Subject, finding: RuleFinding): Condition {
  const { firing, ended = firing, numbers, accounts, ...given } = finding;
  return {
    subject,
    severity: defaultRuleSettings.of[subject.rule].severity,
    ...atOnce,
    ...given,
    get facts() {
      return {
        ...factsOf(given.active === false ? ended() : firing(), numbers?.() ?? {}),
        ...(accounts && { accounts }),
      };
    },
  };
}

export function factsOf([title, ...texts]: Words, numbers: AlertFacts['numbers']): AlertFacts {
  return { title, sentences: texts.filter((text) => typeof text === 'string' && text !== '') as string[], numbers };
}

/** Returns the age of the data that an alert rests on, among its numbers. */
export function ageNumber(at: EpochMs | null | undefined, now: EpochMs): AlertFacts['numbers'] {
  return { data_age_seconds: at == null ? null : Math.max(0, Math.round((now - at) / secondMs)) };
}

/** Fires with the first observation, and resolves with the first observation of the opposite. */
export const atOnce = { forMs: 0, observations: 1, clearObservations: 1 } as const;

/** Input of a rule besides the mailbox. */
export interface MailboxContext {
  readonly now: EpochMs;
  readonly policy: Policy;
  /** True if enforcement is on, the key may write, and writes are not switched off. */
  readonly mayWrite: boolean;
  /** Emergency stop that covers the mailbox, or null if there is none. */
  readonly writesOff: WritesOff | null;
  /**
   * Statistics read before this moment are stale, because several due polls brought none. -Infinity if no statistics
   * are stale yet.
   */
  readonly staleBefore: EpochMs;
  /** A warm-up read before this moment is stale, as with `staleBefore`. */
  readonly warmupStaleBefore: EpochMs;
  /**
   * Returns the age at which a measurement is too old, and the moment since which polls have brought no answer at all.
   */
  readonly staleMeasurement: (route: MeasuredRoute) => StaleMeasurement;
  /** Mailbox before the answer, or null if no answer was applied. */
  readonly before: MailboxState | null;
  /** Words for a running or paused warm-up, in lower case. */
  readonly usualWords: readonly string[];
  readonly rules: RuleSettings;
  /** Returns the other mailboxes of the account, which may show something about the same domain or IP address. */
  readonly neighbours: () => readonly MailboxState[];
  /** Command line that starts this program, for the commands in messages. */
  readonly command: string;
  /** Returns the mailboxes that share a domain or a provider with this one. Walks the fleet. */
  readonly others: (mailbox: MailboxState) => readonly Others[];
}

/** Identity for an account as a whole; `cause` is null for a rule with one cause. */
export function accountSubject(rule: AlertRule, account: string, cause: string | null = null): Subject {
  return { rule, account, mailboxId: null, email: null, object: cause };
}

/** Identity of guard_blind for an account whose counts are missing or contradicted. It replaces the alerts of its mailboxes. */
export function missingCountsSubject(account: string): Subject {
  return accountSubject('guard_blind', account, 'counts');
}

/** Identity for one mailbox; `cause` is null for a rule with one cause. */
export function subjectOf(rule: AlertRule, mailbox: MailboxState, cause: string | null = null): Subject {
  return { rule, account: mailbox.account, mailboxId: mailbox.id, email: mailbox.email, object: cause };
}

/** Returns a transition for a single occurrence, whose alert is never kept among the current ones. */
export function eventOf(
  subject: Subject,
  what: { readonly severity: Severity; readonly since: EpochMs; readonly now: EpochMs; readonly facts: AlertFacts },
): Transition {
  const { severity, since, now, facts } = what;
  const times = { since, firingAt: now, resolvedAt: null, firesAt: null, seen: 0 };
  const fingerprint = fingerprintOf(subject);
  return { kind: 'event', at: now, alert: { ...subject, fingerprint, severity, status: 'firing', ...times, facts } };
}

// Grading of messages by the kinds of recent bounces: a permanent refusal is graver than a full mailbox. No decision
// depends on it.

/**
 * Matches the usual words for an address or sender that is refused permanently. The API documents no words for the
 * kinds of bounces.
 */
const forGood = /(^|[^a-z])(hard|block|blocked|permanent)([^a-z]|$)/;

/** Reason why a message is graver than usual. */
export const graverText = 'All recent bounces were hard or blocks, so this alert is critical.';

/**
 * Raises a warning to critical if all recent bounces are hard or blocks. Bounces that are too few to act on raise
 * nothing.
 */
export function gradedBy(mailbox: MailboxState, { minBounces }: Policy, severity: Severity): Severity {
  const bounces = mailbox.warmup?.answer.recentBounces ?? [];
  const grave = bounces.length >= Math.max(2, minBounces) && bounces.every(isForGood);
  return grave && severity === 'warning' ? 'critical' : severity;
}

function isForGood({ type, category }: RecentBounce): boolean {
  return forGood.test((type ?? category ?? '').toLowerCase());
}

// Applies the operator's settings to the rules: severity, `for`, and whether a rule is announced at all. Pure.

/** Applies the settings to the conditions. A rule that is off is never active, so its firing alerts end. */
export function tune(conditions: readonly Condition[], settings: RuleSettings): readonly Condition[] {
  return conditions.map((one) => {
    const { rule } = one.subject;
    const [{ enabled, severity, forMs }, usual] = [settings.of[rule], defaultRuleSettings.of[rule]];
    if (!enabled) return switchedOff(one);
    // A condition that is severer than its rule, or waits less, stays so unless the rule is configured.
    const isUsual = one.severity === usual.severity;
    const waits = forMs === usual.forMs ? Math.min(one.forMs, forMs) : forMs;
    if ((!isUsual || severity === usual.severity) && waits === one.forMs) return one;
    return { ...one, severity: isUsual ? severity : one.severity, forMs: waits };
  });
}

function switchedOff(one: Condition): Condition {
  const { rule } = one.subject;
  const sentences = [`The rule ${rule} is off in the configuration (alerts.rules).`];
  return { ...one, active: false, clearObservations: 1, facts: { ...one.facts, sentences } };
}
