// What a person should do while the circuit breaker holds: release, or prevent what Warmwarden does without a release.
import type { Alert } from '../model/alert.ts';
import { type MailboxState, typedName } from '../model/mailbox.ts';
import type { EpochMs } from '../model/time.ts';
import { momentText } from '../wording/phrases.ts';
import type { FiringAlerts } from './firing-alerts.ts';

export interface AdviceWords {
  /** The words that start this program. */
  readonly command: string;
  /** For the times: an IANA name. */
  readonly zone: string;
}

export function heldAdvice(firing: FiringAlerts, { command, zone }: AdviceWords): string {
  const holds = firing.groups.filter(({ first }) => first.rule === 'guard_held');
  const [from] = holds.flatMap(({ first }) => actsFrom(first) ?? []).sort((a, b) => a - b);
  const otherwise =
    from === undefined
      ? 'If not, do nothing: Warmwarden waits for the release.'
      : `Otherwise prevent them, as the alert below says: from ${momentText(from, zone)}, Warmwarden acts on its own if fresh data still shows the breach.`;
  return `The circuit breaker is holding the actions, because many mailboxes exceed their limits at the same time. If the bounces are real, carry the actions out: \`${command} breaker release\`. ${otherwise}`;
}

/** The same for one of the mailboxes that it holds. `hold`: the circuit breaker's alert. */
export function heldMailboxAdvice(hold: Alert, mailbox: MailboxState, { command, zone }: AdviceWords): string {
  const from = actsFrom(hold);
  const next =
    from === null
      ? 'Warmwarden acts only after a release.'
      : `Without a release, Warmwarden acts on its own from ${momentText(from, zone)} if fresh data still shows the breach.`;
  return `Warmwarden has not acted, because the circuit breaker is holding its actions. ${next} If the bounces are real, carry out all held actions: \`${command} breaker release\`. To pause only this mailbox now: \`${command} pause ${typedName(mailbox)}\`.`;
}

/** From when Warmwarden acts without a release; null where it waits for one. */
function actsFrom({ facts }: Alert): EpochMs | null {
  const time = facts.numbers['acts_from'];
  return typeof time === 'string' ? Date.parse(time) : null;
}
