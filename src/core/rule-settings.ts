// Settings of the alert rules: on or off, severity, wait before firing, and thresholds. docs/alerts.md.
import type { AlertRule, Severity } from './alert.ts';
import type { Ppm } from './policy.ts';
import { type EpochMs, hourMs, minuteMs } from './time.ts';

/** Common settings of every rule. */
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
  /** Inbox rate over the delivered emails of seven days. */
  readonly inboxRateLow: { readonly belowPpm: Ppm; readonly minMails: number };
  /** Status words of a mailbox that are normal, besides those of a warm-up that runs or is paused. */
  readonly mailboxStatusUnknown: { readonly known: readonly string[] };
  /** Points below the best of the last seven days. */
  readonly healthScoreDrop: { readonly points: number };
  /** The zone in which messages give times: an IANA name. */
  readonly timeZone: string;
}

const setting = (severity: Severity, forMs = 0): RuleSetting => ({ enabled: true, severity, forMs });

export const defaultRuleSettings: RuleSettings = {
  of: {
    api_down: setting('critical', 3 * minuteMs),
    crashed: setting('critical'),
    key_rejected: setting('critical'),
    key_read_only: setting('critical'),
    guard_acted: setting('warning'),
    restored: setting('info'),
    guard_held: setting('critical'),
    writes_off: setting('warning'),
    disarmed: setting('warning'),
    contested: setting('warning'),
    recovery_without_effect: setting('warning'),
    restore_overdue: setting('warning'),
    guard_action_failed: setting('critical'),
    guard_blind: setting('warning', hourMs),
    bounce_over_limit: setting('critical'),
    bounce_near_limit: setting('info'),
    bounce_burst: setting('warning'),
    domain_over_limit: setting('warning'),
    account_shift: setting('warning'),
    sending_over_limit: setting('warning'),
    mailbox_disconnected: setting('critical'),
    mailbox_status_unknown: setting('warning'),
    mailbox_missing: setting('warning'),
    mailbox_list_short: setting('critical'),
    dns_failing: setting('critical'),
    blacklisted: setting('warning'),
    stale_data: setting('warning'),
    measurement_stale: setting('warning'),
    inbox_rate_low: setting('warning'),
    health_score_drop: setting('warning'),
    key_shared: setting('warning'),
    budget_too_small: setting('info', 4 * minuteMs),
    changed_by_others: setting('info'),
    api_unwell: setting('warning', 5 * minuteMs),
    clock_off: setting('warning', 5 * minuteMs),
    config_reload_failed: setting('warning'),
    config_matches_nothing: setting('warning'),
    operator_acted: setting('info'),
    channel_failing: setting('critical', 15 * minuteMs),
    store_failing: setting('critical'),
  },
  acted: { pause: 'critical', recovery: 'warning' },
  blacklisted: { major: [], ignore: [], minLists: 1 },
  inboxRateLow: { belowPpm: 800_000, minMails: 30 },
  mailboxStatusUnknown: { known: ['connected', 'not_started', 'finished', 'completed', 'done', 'pending'] },
  healthScoreDrop: { points: 15 },
  timeZone: 'UTC',
};
