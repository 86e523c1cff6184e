// Settings of the alert rules: on or off, severity, wait before firing, and thresholds. docs/alerts.md.
import type { Severity } from './alert.ts';
import { type AlertRule, alertRules, ruleBook } from './alert-rules.ts';
import type { Ppm } from './policy.ts';
import type { EpochMs } from './time.ts';

export interface RuleSetting {
  /** false: its alerts end, and none begins. */
  readonly enabled: boolean;
  readonly severity: Severity;
  /** Duration of the condition before the alert fires; 0 fires at once. Events have no wait. */
  readonly forMs: EpochMs;
}

export interface RuleSettings {
  readonly of: Readonly<Record<AlertRule, RuleSetting>>;
  /** guard_acted: by what was done. */
  readonly acted: { readonly pause: Severity; readonly recovery: Severity };
  readonly blacklisted: {
    /** Globs on names of lists: a listing there is critical. */
    readonly major: readonly string[];
    /** Globs on names of lists to ignore. */
    readonly ignore: readonly string[];
    /** A listing on fewer lists does not count. */
    readonly minLists: number;
  };
  readonly reputationLow: {
    /** Inbox rate over the delivered emails of seven days. */
    readonly inboxBelowPpm: Ppm;
    /** Delivered emails that the rate needs at least. */
    readonly minMails: number;
    /** Points below the best health score of the last seven days. */
    readonly scoreDrop: number;
  };
  /** Status words of a mailbox that are normal, besides those of a warm-up that runs or is paused. */
  readonly mailboxUnwell: { readonly known: readonly string[] };
  /** The zone in which messages give times: an IANA name. */
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
