// The one line of a message, for headers, fallbacks and the list of deliveries. Plain text, not escaped.
import { groupName } from '../alerts/group-name.ts';
import { countsByRule, type GroupMessage } from '../alerts/grouping.ts';

/** How the message leads about what began and resolved before it could be sent. */
export const briefLead = 'Began and resolved';

/** Rules that a title names when a message is about several. */
const rulesNamed = 4;

/**
 * `Critical: a@b.example: warm-up paused`, `Resolved: ...`; of an incident its title; for several `Critical: acme: DNS failing (12, 3 of them
 * resolved)`; for several rules `Critical: DNS failing (2), stale statistics (30)`.
 */
export function messageTitle(message: GroupMessage): string {
  const { transitions, kind, rule, account } = message;
  const first = transitions[0];
  const lead = leadOf(message);
  if (message.incident) return `${lead}: ${message.incident.title}`;
  if (transitions.length === 1 && first) return `${lead}: ${first.alert.facts.title}`;
  const whose = account === null || account === '' ? '' : `${account}: `;
  const isUnstable = kind !== 'resolved' && transitions.every(({ alert }) => alert.unstable);
  const unstable = isUnstable ? ', unstable' : '';
  if (rule === null) {
    const counts = countsByRule(transitions);
    const named = counts.slice(0, rulesNamed).map(({ rule: of, count }) => `${groupName(of, transitions)} (${count})`);
    const more = counts.length > named.length ? ` and ${counts.length - named.length} more` : '';
    return `${lead}: ${whose}${named.join(', ')}${more}${unstable}`;
  }
  const ended = transitions.filter((transition) => transition.kind === 'resolved').length;
  const note = ended > 0 && kind !== 'resolved' ? `, ${ended} of them resolved` : '';
  return `${lead}: ${whose}${groupName(rule, transitions)} (${transitions.length}${note})${unstable}`;
}

/** `DNS failing (2) · stale statistics (30, 4 resolved)`: how many of each rule, all of them. */
export function countsText({ transitions }: GroupMessage): string {
  const parts = countsByRule(transitions).map(({ rule, count, resolved }) => {
    return `${groupName(rule, transitions)} (${count}${resolved > 0 ? `, ${resolved} resolved` : ''})`;
  });
  return parts.join(' · ');
}

function leadOf({ kind, severity, transitions, incident, rule }: GroupMessage): string {
  const word = severity.charAt(0).toUpperCase() + severity.slice(1);
  if (kind === 'resolved') return !incident && transitions.every(({ brief }) => brief) ? briefLead : 'Resolved';
  if (kind === 'reminder') return `Still ${severity}`;
  if (kind !== 'worsened') return word;
  // The same outage for another reason, which calls for something else.
  return rule === 'store_failing' ? `New cause, ${severity}` : `Worse, ${severity}`;
}
