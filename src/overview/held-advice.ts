// What a person should do while the circuit breaker holds: release, or prevent what Warmwarden does without a release.
import { momentText } from '../wording/phrases.ts';
import type { FiringAlerts } from './firing-alerts.ts';

/** `command`: the words that start this program. */
export function heldAdvice({ firing, command }: { readonly firing: FiringAlerts; readonly command: string }): string {
  const holds = firing.groups.filter(({ first }) => first.rule === 'guard_held');
  const times = holds.flatMap(({ first }) => first.facts.numbers['acts_from'] ?? []);
  const [from] = times.map((time) => Date.parse(String(time))).sort((a, b) => a - b);
  const otherwise =
    from === undefined
      ? 'If not, do nothing: Warmwarden waits for the release.'
      : `Otherwise prevent them, as the alert below says: from ${momentText(from)}, Warmwarden acts on its own if fresh data still shows the breach.`;
  return `The circuit breaker is holding the actions, because many mailboxes exceed their limits at the same time. If the bounces are real, carry the actions out: \`${command} breaker release\`. ${otherwise}`;
}
