// Decides which ends have no message for people, because an earlier message announced them. Receivers that track state
// get these ends all the same. Pure.

import type { Alert, Announcement, Transition } from '../core/alert.ts';
import { ruleBook } from '../core/alert-rules.ts';

export function isTooFew({ rule, facts }: Pick<Alert, 'rule' | 'facts'>): boolean {
  return rule === 'bounce_over_limit' && facts.numbers['reason'] === 'insufficient_evidence';
}

/** The digest lists these alerts. */
export function callsForNothing(alert: Alert): boolean {
  return isTooFew(alert) || ruleBook[alert.rule].isSymptom === true;
}

/** People who were notified of more than too few bounces are notified of their end. */
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
export function isMoreThanTold(alert: Alert, { quietEnd }: Announcement): boolean {
  return quietEnd === 'too_few' && !isTooFew(alert);
}

export function endAsTold(end: Transition, { quietEnd, onlyInIncident }: Announcement): Transition {
  return { ...end, ...(quietEnd && { foretold: true }), ...(!onlyInIncident && { alone: true }) };
}

/** Returns null if the alert needs action, or a channel did not get the incident's last message that named it. */
export function namedAtTheEnd(
  alert: Alert,
  known: Announcement | undefined,
  readers: readonly string[],
): Announcement | null {
  const haveRead = callsForNothing(alert) && known?.channels?.every((channel) => readers.includes(channel));
  return known && haveRead ? { ...known, quietEnd: 'in_incident' } : null;
}
