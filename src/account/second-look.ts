// Findings that need a second look soon: alerts that wait for a second observation, and breaches that are held.

import { type MailboxRoute, mailboxRoutes } from '../api/poll/poll.ts';
import { type Alert, fingerprintOf, isToBeSeenAgain } from '../core/alert.ts';
import { alertRules, ruleBook } from '../core/alert-rules.ts';
import type { Route } from '../core/answers.ts';
import { domainOf, type MailboxState } from '../core/mailbox.ts';

/** The pending or firing alert of a fingerprint. */
type AlertOf = (fingerprint: string) => Alert | undefined;

/** Returns true if an alert waits for another answer of that route about the mailbox, its domain or its IP address. */
export function wantsSecondLook(mailbox: MailboxState, route: Route, alertOf: AlertOf): boolean {
  return alertsShownBy(mailbox, route, alertOf).some(isToBeSeenAgain);
}

/**
 * Returns the routes of a mailbox that alerts of its account wait for. An alert of a domain or an IP address waits for
 * the mailbox that it was seen with.
 */
export function secondLooksDue(alerts: Iterable<Alert>): (mailbox: MailboxState) => readonly MailboxRoute[] {
  const waiting = Map.groupBy(
    [...alerts].filter(isToBeSeenAgain),
    ({ mailboxId, facts }) => mailboxId ?? facts.numbers['seen_with'],
  );
  return (mailbox) => {
    const about = new Map(
      [mailbox.id, mailbox.email].flatMap((one) => waiting.get(one) ?? []).map((alert) => [alert.fingerprint, alert]),
    );
    const alertOf = (fingerprint: string) => about.get(fingerprint);
    return about.size === 0 ? [] : mailboxRoutes.filter((route) => wantsSecondLook(mailbox, route, alertOf));
  };
}

/**
 * Returns true if the next answer of that route may fire or resolve an alert. It should then be a fresh measurement.
 */
export function mayDecide(mailbox: MailboxState, route: Route, alertOf: AlertOf): boolean {
  return alertsShownBy(mailbox, route, alertOf).length > 0;
}

/**
 * Returns the alerts that an answer of the route may change. Lookup is by fingerprint: in a storm an account has as
 * many alerts as mailboxes, and each answer asks.
 */
function alertsShownBy(mailbox: MailboxState, route: Route, alertOf: AlertOf): readonly Alert[] {
  const rules = alertRules.filter((rule) => ruleBook[rule].seenTwiceBy?.includes(route));
  if (rules.length === 0) return [];
  const { account, id, email, dns, blacklist } = mailbox;
  const causes = route === 'mailbox' ? ['connection', 'status'] : [route];
  const objects = [dns?.answer.domain, domainOf(email), blacklist?.answer.ip].filter((one) => typeof one === 'string');
  const abouts = [
    ...causes.map((object) => ({ mailboxId: id, object })),
    ...objects.map((object) => ({ mailboxId: null, object })),
  ];
  return rules.flatMap((rule) =>
    abouts.flatMap((about) => alertOf(fingerprintOf({ rule, account, email: null, ...about })) ?? []),
  );
}

/** Breaches at first sight, or held by the breaker. Each is read once more soon; after that the cadence is enough. */
export class HeldBreaches {
  /** Mailboxes that the breaker holds and that were queued for a second look. */
  readonly #held = new Set<string>();

  isFirst({ id, verdict }: MailboxState): boolean {
    const reason = verdict?.answer.reason;
    if (reason === 'first_sight') return true;
    if (reason !== 'circuit_breaker') this.#held.delete(id);
    else if (!this.#held.has(id)) return Boolean(this.#held.add(id));
    return false;
  }
}
