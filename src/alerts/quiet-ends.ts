// Decides which ends have no message for people, because an earlier message announced them: bounces that were too few
// to act on, and alerts that the last message of an incident named as ongoing. Receivers that track state get these
// ends all the same. Pure.

import type { Alert, Announcement, Transition } from '../core/alert.ts';
import { ruleBook } from '../core/alert-rules.ts';

/** Returns true for bounces over the limit that are too few to act on. */
export function isTooFew({ rule, facts }: Pick<Alert, 'rule' | 'facts'>): boolean {
  return rule === 'bounce_over_limit' && facts.numbers['reason'] === 'insufficient_evidence';
}

/**
 * Returns true if an alert needs no action now: symptoms, and bounces that are too few to act on. The digest lists
 * them.
 */
export function callsForNothing(alert: Alert): boolean {
  return isTooFew(alert) || ruleBook[alert.rule].isSymptom === true;
}

/**
 * Returns what the message about an alert says about its end. People who were notified of more than too few bounces are
 * notified of their end.
 */
export function endOf(
  alert: Alert,
  before: Announcement | undefined,
  inIncident: boolean,
): Pick<Announcement, 'quietEnd' | 'onlyInIncident'> {
  const isQuiet = isTooFew(alert) && (before === undefined || before.quietEnd === 'too_few');
  const isOnlyThere = inIncident && (before === undefined || before.onlyInIncident === true);
  return { ...(isQuiet && { quietEnd: 'too_few' }), ...(isOnlyThere && { onlyInIncident: true }) };
}

/** Returns true if people were notified of too few bounces and the alert is about more by now. */
export function isMoreThanTold(alert: Alert, announcement: Announcement | undefined): boolean {
  return announcement?.quietEnd === 'too_few' && !isTooFew(alert);
}

/** Returns the end of an alert, marked as its announcement requires. */
export function endAsTold(end: Transition, { quietEnd, onlyInIncident }: Announcement): Transition {
  return { ...end, ...(quietEnd && { foretold: true }), ...(!onlyInIncident && { alone: true }) };
}

/**
 * Returns the announcement of an alert that the last message of an incident named as ongoing, or null if the alert
 * needs action or a channel did not get that message.
 */
export function namedAtTheEnd(
  alert: Alert,
  known: Announcement | undefined,
  readers: readonly string[],
): Announcement | null {
  const haveRead = callsForNothing(alert) && known?.channels?.every((channel) => readers.includes(channel));
  return known && haveRead ? { ...known, quietEnd: 'in_incident' } : null;
}
