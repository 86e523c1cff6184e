// The alert rules with their settings, in the order in which alerts of one severity are shown. Their conditions stand in
// alerts/rules, their runbooks in runbooks.ts.
import type { Route } from './answers.ts';
import type { Ppm } from './policy.ts';
import { hourMs, minuteMs } from './time.ts';

export const severities = ['critical', 'warning', 'info'] as const;
export type Severity = (typeof severities)[number];

interface RuleEntry {
  /** Words for one or more of its alerts in messages. */
  readonly name: string;
  readonly severity: Severity;
  /** Time that the condition must last; 0 if absent. A cause may have a shorter one, in its condition. */
  readonly forMs?: number;
  /** Marks a state of the API that may change within a minute: its alert can be unstable. */
  readonly comesAndGoes?: true;
  /** Marks what follows from bounces, lasts for days after them, and calls for nothing at once. */
  readonly isSymptom?: true;
  readonly causes?: readonly string[];
  /** Severities that the condition may choose besides the configured one. */
  readonly otherSeverities?: readonly Severity[];
  /** Marks an event, which happens once and has no wait: the name of its `object` in Alertmanager's annotations. */
  readonly event?: string;
  /** Names what the alerts show of an incident. A sender is a domain or IP address; `shared`: bounces of many mailboxes. */
  readonly shows?: 'bounces' | 'action' | 'hold' | 'sender' | 'shared';
  /** Marks missing knowledge; all other rules report facts. */
  readonly isBlind?: true;
  /** Marks what says nothing new while an outage of the account lasts. */
  readonly isExplainedByOutage?: true;
  /** Marks what does not wait for the one message of a first sweep. */
  readonly isToldAtOnce?: true;
  /** Routes whose second answer fires or ends its alerts. */
  readonly seenTwiceBy?: readonly Route[];
}

const rules = {
  not_guarded: {
    name: 'accounts NOT GUARDED',
    severity: 'critical',
    forMs: 3 * minuteMs,
    comesAndGoes: true,
    causes: ['api down', 'key rejected', 'key read-only', 'list unread', 'mailbox list', 'nothing judged'],
    otherSeverities: ['warning'],
    isBlind: true,
    isToldAtOnce: true,
  },
  crashed: {
    name: 'Warmwarden crashed',
    severity: 'critical',
  },
  guard_acted: {
    name: 'Warmwarden acted',
    severity: 'warning',
    otherSeverities: ['critical'],
    event: 'action_id',
    shows: 'action',
  },
  restored: {
    name: 'restored from recovery',
    severity: 'info',
    event: 'action_id',
  },
  guard_held: {
    name: 'the circuit breaker holds actions',
    severity: 'critical',
    shows: 'hold',
    isToldAtOnce: true,
  },
  protection_off: {
    name: 'protection switched off',
    severity: 'warning',
  },
  contested: {
    name: 'changes reversed',
    severity: 'warning',
  },
  recovery_without_effect: {
    name: 'recovery without effect',
    severity: 'warning',
    causes: ['daily limit', 'overdue'],
  },
  guard_action_failed: {
    name: 'an action failed',
    severity: 'critical',
    isToldAtOnce: true,
  },
  guard_blind: {
    name: 'bounces cannot be judged',
    severity: 'warning',
    forMs: hourMs,
    comesAndGoes: true,
    isBlind: true,
  },
  bounce_over_limit: {
    name: 'bounces over the limit',
    severity: 'critical',
    otherSeverities: ['critical', 'warning', 'info'],
    shows: 'bounces',
  },
  bounce_near_limit: {
    name: 'bounces near the limit',
    severity: 'info',
    isSymptom: true,
  },
  bounce_burst: {
    name: 'bursts of bounces',
    severity: 'warning',
    shows: 'bounces',
  },
  shared_bounces: {
    name: 'bounces of many mailboxes',
    severity: 'warning',
    isSymptom: true,
    causes: ['whole account'],
    shows: 'shared',
  },
  mailbox_unwell: {
    name: 'mailbox unwell',
    severity: 'critical',
    comesAndGoes: true,
    causes: ['connection', 'status'],
    otherSeverities: ['warning'],
    seenTwiceBy: ['mailbox'],
  },
  mailbox_missing: {
    name: 'mailbox missing',
    severity: 'warning',
    comesAndGoes: true,
    isBlind: true,
    isExplainedByOutage: true,
    isToldAtOnce: true,
  },
  dns_failing: {
    name: 'DNS failing',
    severity: 'critical',
    comesAndGoes: true,
    otherSeverities: ['warning'],
    shows: 'sender',
    seenTwiceBy: ['dns'],
  },
  blacklisted: {
    name: 'blacklisted',
    severity: 'warning',
    comesAndGoes: true,
    shows: 'sender',
    seenTwiceBy: ['blacklist'],
  },
  stale_data: {
    name: 'data out of date',
    severity: 'warning',
    comesAndGoes: true,
    causes: ['statistics', 'dns', 'blacklist'],
    isBlind: true,
    isExplainedByOutage: true,
    seenTwiceBy: ['dns', 'blacklist'],
  },
  reputation_low: {
    name: 'reputation low',
    severity: 'warning',
    comesAndGoes: true,
    isSymptom: true,
    causes: ['inbox rate', 'health score'],
  },
  budget_too_small: {
    name: 'too few requests',
    severity: 'info',
    // Moving in a fleet, or catching up after a 429, takes as long.
    forMs: 4 * minuteMs,
    causes: ['cadence', 'shared key'],
    otherSeverities: ['warning'],
  },
  changed_by_others: {
    name: 'changed by others',
    severity: 'info',
    otherSeverities: ['warning'],
    event: 'changed_at_ms',
  },
  api_unwell: {
    name: 'API unwell',
    severity: 'warning',
    // A deployment of the API may take as long.
    forMs: 5 * minuteMs,
    comesAndGoes: true,
    causes: ['status', 'mailbox list'],
  },
  clock_off: {
    name: 'clocks differ',
    severity: 'warning',
    forMs: 5 * minuteMs,
  },
  config_wrong: {
    name: 'configuration wrong',
    severity: 'warning',
    causes: ['reload', 'patterns'],
  },
  operator_acted: {
    name: 'operator commands',
    severity: 'info',
    event: 'command_id',
  },
  channel_failing: {
    name: 'channel failing',
    severity: 'critical',
    forMs: 15 * minuteMs,
  },
  store_failing: {
    name: 'store failing',
    severity: 'critical',
  },
} as const satisfies Record<string, RuleEntry>;

export type AlertRule = keyof typeof rules;

export const ruleBook: Readonly<Record<AlertRule, RuleEntry>> = rules;

export const alertRules = Object.keys(rules) as readonly AlertRule[];

// Settings of the alert rules. docs/configuration.md.

export interface RuleSetting {
  readonly enabled: boolean;
  readonly severity: Severity;
  readonly forMs: number;
}

export interface RuleSettings {
  readonly of: Readonly<Record<AlertRule, RuleSetting>>;
  readonly acted: { readonly pause: Severity; readonly recovery: Severity };
  readonly blacklisted: {
    /** Globs on names of lists with critical listings. */
    readonly major: readonly string[];
    readonly ignore: readonly string[];
    readonly minLists: number;
  };
  readonly reputationLow: {
    /** Inbox rate over the delivered emails of seven days. */
    readonly inboxBelowPpm: Ppm;
    readonly minMails: number;
    readonly scoreDrop: number;
  };
  /** Further normal status words, besides those of a warm-up that runs or is paused. */
  readonly mailboxUnwell: { readonly known: readonly string[] };
  readonly timeZone: string;
}

export const defaultRuleSettings: RuleSettings = {
  of: Object.fromEntries(
    alertRules.map((rule) => [
      rule,
      { enabled: true, severity: ruleBook[rule].severity, forMs: ruleBook[rule].forMs ?? 0 },
    ]),
  ) as RuleSettings['of'],
  acted: { pause: 'critical', recovery: 'warning' },
  blacklisted: { major: [], ignore: [], minLists: 1 },
  reputationLow: { inboxBelowPpm: 800_000, minMails: 30, scoreDrop: 15 },
  mailboxUnwell: { known: ['connected', 'not_started', 'finished', 'completed', 'done', 'pending'] },
  timeZone: 'UTC',
};
