// Input and output of the rules: the context, and a condition as one answer shows it.

import { type Alert, type AlertFacts, fingerprintOf, type Subject, type Transition } from '../core/alert.ts';
import { type AlertRule, defaultRuleSettings, type RuleSettings, type Severity } from '../core/alert-rules.ts';
import type { MeasuredRoute, Route, StaleMeasurement } from '../core/answers.ts';
import type { MailboxName, MailboxState } from '../core/mailbox.ts';
import type { Policy } from '../core/policy.ts';
import { type EpochMs, secondMs } from '../core/time.ts';
import type { WritesOff } from '../core/write-scope.ts';

/** Result of a rule for one subject, from one answer or from the passing of time. */
export interface Condition {
  readonly subject: Subject;
  readonly severity: Severity;
  /** `unknown` if nothing was learned: the condition neither fires nor resolves nor counts. */
  readonly active: boolean | 'unknown';
  /** True if the trouble is still visible although `active` is unknown: the alert then takes over these words. */
  readonly stillShown?: boolean | ((alert: Alert) => boolean);
  readonly forMs: number;
  readonly observations: number;
  /** Number of consecutive observations of the opposite before it resolves. */
  readonly clearObservations: number;
  /** True if it got clearly worse at the same severity; `at_once` ignores the interval since the last message. */
  readonly worse?: boolean | 'at_once';
  /** Start of the condition, if it is known better than "now". */
  readonly since?: EpochMs;
  readonly facts: AlertFacts;
}

/** A rule about one mailbox: what the answer of a route, or the passing of time, says about its condition. */
export type MailboxRule = (mailbox: MailboxState, context: MailboxContext, answered: Route | 'time') => Condition;

/**
 * The rules that each route's answer, or the passing of time, can change. Those of `time` are asked only about mailboxes
 * with an answer that is too old: AccountAlerts.passed() picks them.
 */
export type RulesAfter = Readonly<Partial<Record<Route | 'time', readonly MailboxRule[]>>>;

/** Title of a message and its sentences; empty ones are left out. */
export type Words = readonly [title: string, ...sentences: readonly (string | false | null | undefined)[]];

export interface RuleFinding extends Partial<Omit<Condition, 'subject' | 'active' | 'facts'>> {
  readonly active: Condition['active'];
  readonly firing: () => Words;
  /** Words when it is over; absent if they are the same. */
  readonly ended?: () => Words;
  readonly numbers?: () => AlertFacts['numbers'];
  readonly accounts?: readonly string[];
}

/** Returns a condition with the wait of its rule, which resolves at once by default. Its words are made lazily. */
export function condition(subject: Subject, finding: RuleFinding): Condition {
  const { firing, ended = firing, numbers, accounts, ...given } = finding;
  const { severity, forMs } = defaultRuleSettings.of[subject.rule];
  return {
    subject,
    ...atOnce,
    severity,
    forMs,
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

export function ageNumber(at: EpochMs | null | undefined, now: EpochMs): AlertFacts['numbers'] {
  return { data_age_seconds: at == null ? null : Math.max(0, Math.round((now - at) / secondMs)) };
}

export const atOnce = { forMs: 0, observations: 1, clearObservations: 1 } as const;

export interface MailboxContext {
  readonly now: EpochMs;
  readonly policy: Policy;
  /** True if enforcement is on, the key may write, and writes are not switched off. */
  readonly mayWrite: boolean;
  /** Write stop that covers the mailbox, or null if there is none. */
  readonly writesOff: WritesOff | null;
  /** Statistics read before this moment are stale: several due polls brought none. -Infinity if none are stale. */
  readonly staleBefore: EpochMs;
  readonly warmupStaleBefore: EpochMs;
  readonly staleMeasurement: (route: MeasuredRoute) => StaleMeasurement;
  readonly before: MailboxState | null;
  /** Words for a running or paused warm-up, in lower case. */
  readonly usualWords: readonly string[];
  readonly rules: RuleSettings;
  /** Returns the other mailboxes of the account, which may show something about the same domain or IP address. */
  readonly neighbours: () => readonly MailboxState[];
}

export function accountSubject(rule: AlertRule, account: string, cause: string | null = null): Subject {
  return { rule, account, mailboxId: null, email: null, object: cause };
}

export function subjectOf(rule: AlertRule, mailbox: MailboxName, cause: string | null = null): Subject {
  return { rule, account: mailbox.account, mailboxId: mailbox.id, email: mailbox.email, object: cause };
}

/** Returns a transition for a single occurrence, whose alert is never current, or null if the rule is off. */
export function eventOf(
  subject: Subject,
  { severity, since, facts }: { readonly severity: Severity; readonly since: EpochMs; readonly facts: AlertFacts },
  { now, rules }: Pick<MailboxContext, 'now' | 'rules'>,
): Transition | null {
  if (!rules.of[subject.rule].enabled) return null;
  const times = { since, firingAt: now, resolvedAt: null, firesAt: null, seen: 0 };
  const fingerprint = fingerprintOf(subject);
  return { kind: 'event', at: now, alert: { ...subject, fingerprint, severity, status: 'firing', ...times, facts } };
}

// Applies the operator's settings to the rules. Pure.

/** A rule that is off is never active, so its firing alerts end. */
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
