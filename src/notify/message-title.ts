// The one line of a message, for headers, fallbacks and the list of deliveries. Plain text, not escaped.
import { countsByRule, type GroupMessage } from '../alert/grouping.ts';
import type { AlertRule } from '../model/alert.ts';

/** What a group of several alerts is about. */
const ruleNames: Readonly<Record<AlertRule, string>> = {
  key_rejected: 'key rejected',
  key_read_only: 'key may not write',
  guard_acted: 'Warmwarden acted',
  restored: 'restored from recovery',
  guard_held: 'the circuit breaker holds actions',
  writes_off: 'writes are OFF',
  operator_acted: 'operator commands',
  contested: 'changes reversed',
  recovery_without_effect: 'recovery without effect',
  restore_overdue: 'long in recovery',
  guard_action_failed: 'an action failed',
  guard_blind: 'bounces cannot be judged',
  bounce_over_limit: 'bounces over the limit, NOT ACTED',
  bounce_near_limit: 'bounces near the limit',
  dns_failing: 'DNS failing',
  blacklisted: 'blacklisted',
  mailbox_disconnected: 'mailbox disconnected',
  api_down: 'API down',
  account_unguarded: 'account NOT GUARDED',
  stale_data: 'stale statistics',
  mailbox_missing: 'mailbox missing',
  mailbox_list_short: 'mailbox list too short',
  inbox_rate_low: 'few mails reach the inbox',
  health_score_drop: 'health score dropped',
  key_shared: 'key used by others too',
  budget_too_small: 'request budget too small',
  api_unwell: 'API not well',
  clock_off: 'clocks differ',
  config_reload_failed: 'configuration not reloaded',
  channel_failing: 'channel failing',
  store_failing: 'store failing',
};

/** How the message leads about what began and resolved before it could be sent. */
export const briefLead = 'Began and resolved';

/** Rules that a title names when a message is about several. */
const rulesNamed = 4;

/**
 * `Critical: a@b.example: warm-up paused`, `Resolved: ...`; for several `Critical: acme: DNS failing (12, 3 of them
 * resolved)`; for several rules `Critical: what we found: DNS failing (2), stale statistics (30)`.
 */
export function messageTitle(message: GroupMessage): string {
  const { transitions, kind, rule, account } = message;
  const first = transitions[0];
  const lead = leadOf(message);
  if (transitions.length === 1 && first) return `${lead}: ${first.alert.facts.title}`;
  const whose = account === null || account === '' ? '' : `${account}: `;
  if (rule === null) {
    const counts = countsByRule(transitions);
    const named = counts.slice(0, rulesNamed).map(({ rule: of, count }) => `${ruleNames[of]} (${count})`);
    const more = counts.length > named.length ? ` and ${counts.length - named.length} more` : '';
    return `${lead}: ${whose}${kind === 'found' ? 'what we found: ' : ''}${named.join(', ')}${more}`;
  }
  const ended = transitions.filter((transition) => transition.kind === 'resolved').length;
  const note = ended > 0 && kind !== 'resolved' ? `, ${ended} of them resolved` : '';
  return `${lead}: ${whose}${ruleNames[rule]} (${transitions.length}${note})`;
}

/** `DNS failing (2) · stale statistics (30, 4 resolved)`: how many of each rule, all of them. */
export function countsText({ transitions }: GroupMessage): string {
  const parts = countsByRule(transitions).map(({ rule, count, resolved }) => {
    return `${ruleNames[rule]} (${count}${resolved > 0 ? `, ${resolved} resolved` : ''})`;
  });
  return parts.join(' · ');
}

function leadOf({ kind, severity, transitions }: GroupMessage): string {
  const word = severity.charAt(0).toUpperCase() + severity.slice(1);
  if (kind === 'resolved') return transitions.every(({ brief }) => brief) ? briefLead : 'Resolved';
  if (kind === 'reminder') return `Still ${severity}`;
  return kind === 'worsened' ? `Worse, ${severity}` : word;
}
