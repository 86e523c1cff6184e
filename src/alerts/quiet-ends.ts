// Ends that are no message to people, because an earlier message said so: of bounces that were too few to act on, and of what
// the last message of an incident named as still so. Pure. Receivers that keep alerts open get it all the same.

import type { Alert, Announcement, Transition } from '../core/alert.ts';
import { ruleBook } from '../core/alert-rules.ts';

/** Bounces over the limit that are too few to act on. */
export function isTooFew({ rule, facts }: Pick<Alert, 'rule' | 'facts'>): boolean {
  return rule === 'bounce_over_limit' && facts.numbers['reason'] === 'insufficient_evidence';
}

/** The digest lists what calls for nothing to be done now: symptoms, and bounces that are too few to act on. */
export function callsForNothing(alert: Alert): boolean {
  return isTooFew(alert) || ruleBook[alert.rule].isSymptom === true;
}

/** What the message about an alert says about its end. Whoever was notified of more than too few bounces is notified of their end. */
export function endOf(
  alert: Alert,
  before: Announcement | undefined,
  inIncident: boolean,
): Pick<Announcement, 'quietEnd' | 'onlyInIncident'> {
  const isQuiet = isTooFew(alert) && (before === undefined || before.quietEnd === 'too_few');
  const isOnlyThere = inIncident && (before === undefined || before.onlyInIncident === true);
  return { ...(isQuiet && { quietEnd: 'too_few' }), ...(isOnlyThere && { onlyInIncident: true }) };
}

/** Whether people know of too few bounces where there is more to know by now. */
export function isMoreThanTold(alert: Alert, announcement: Announcement | undefined): boolean {
  return announcement?.quietEnd === 'too_few' && !isTooFew(alert);
}

/** The end of what people know of. */
export function endAsTold(end: Transition, { quietEnd, onlyInIncident }: Announcement): Transition {
  return { ...end, ...(quietEnd && { foretold: true }), ...(!onlyInIncident && { alone: true }) };
}

/** What the last message of an incident named as still so, to those who read that message. */
export function namedAtTheEnd(
  alert: Alert,
  known: Announcement | undefined,
  readers: readonly string[],
): Announcement | null {
  const haveRead = callsForNothing(alert) && known?.channels?.every((channel) => readers.includes(channel));
  return known && haveRead ? { ...known, quietEnd: 'in_incident' } : null;
}
