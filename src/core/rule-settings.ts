// Settings of the alert rules. docs/configuration.md.
import type { Severity } from './alert.ts';
import { type AlertRule, alertRules, ruleBook } from './alert-rules.ts';
import type { Ppm } from './policy.ts';
import type { EpochMs } from './time.ts';

export interface RuleSetting {
  readonly enabled: boolean;
  readonly severity: Severity;
  readonly forMs: EpochMs;
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
