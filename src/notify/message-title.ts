// The one line of a message, for headers, fallbacks and the list of deliveries. Plain text, not escaped.
import type { GroupMessage } from '../alert/grouping.ts';
import type { AlertRule } from '../model/alert.ts';

/** What a group of several alerts is about. */
const ruleNames: Readonly<Record<AlertRule, string>> = {
  guard_acted: 'Warmwarden acted',
  restored: 'restored from recovery',
  guard_held: 'the breaker holds',
  contested: 'changes taken back',
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
  stale_data: 'stale statistics',
};

/** `Critical: a@b.example: warm-up paused`, `Resolved: ...`, or for several `Critical: acme: DNS failing (12, 3 resolved)`. */
export function messageTitle(message: GroupMessage): string {
  const { transitions, kind } = message;
  const first = transitions[0];
  const lead = kind === 'resolved' ? 'Resolved' : message.severity.charAt(0).toUpperCase() + message.severity.slice(1);
  if (transitions.length === 1 && first) return `${lead}: ${first.alert.facts.title}`;
  const ended = transitions.filter((transition) => transition.kind === 'resolved').length;
  const note = ended > 0 && kind === 'firing' ? `, ${ended} of them resolved` : '';
  return `${lead}: ${message.account}: ${ruleNames[message.rule]} (${transitions.length}${note})`;
}
