// Which findings are looked at again soon: those whose alert waits for a second observation, and breaches that are held.

import { type MailboxRoute, mailboxRoutes } from '../api/poll/poll.ts';
import { type Alert, fingerprintOf, isToBeSeenAgain } from '../core/alert.ts';
import type { AlertRule } from '../core/alert-rules.ts';
import type { Route } from '../core/answers.ts';
import { domainOf, type MailboxState } from '../core/mailbox.ts';

/** Rules whose alerts fire or resolve on the second observation, by the route that observes. */
const rulesSeenTwice: Partial<Record<Route, readonly AlertRule[]>> = {
  mailbox: ['mailbox_unwell'],
  dns: ['dns_failing', 'stale_data'],
  blacklist: ['blacklisted', 'stale_data'],
};

/** The pending or firing alert of a fingerprint. */
type AlertOf = (fingerprint: string) => Alert | undefined;

/** Whether an alert waits for another answer of that route about the mailbox, its domain or its ip. */
export function wantsSecondLook(mailbox: MailboxState, route: Route, alertOf: AlertOf): boolean {
  return alertsShownBy(mailbox, route, alertOf).some(isToBeSeenAgain);
}

/**
 * By which routes a mailbox is to be seen once more, for the alerts of its account that wait for it. An alert of a domain or
 * an ip waits for the mailbox that it was seen with.
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

/** Whether the next answer of that route may fire or resolve an alert: it should be a measurement of now. */
export function mayDecide(mailbox: MailboxState, route: Route, alertOf: AlertOf): boolean {
  return alertsShownBy(mailbox, route, alertOf).length > 0;
}

/** By their fingerprints: in a storm an account has as many alerts as mailboxes, and each answer asks. */
function alertsShownBy(mailbox: MailboxState, route: Route, alertOf: AlertOf): readonly Alert[] {
  const rules = rulesSeenTwice[route];
  if (!rules) return [];
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

/** A breach at first sight, or one that the breaker holds, is read once more soon; after that the cadence is enough. */
export class HeldBreaches {
  /** Mailboxes that the breaker holds and that were read again since. */
  readonly #held = new Set<string>();

  isFirst({ id, verdict }: MailboxState): boolean {
    const reason = verdict?.answer.reason;
    if (reason === 'first_sight') return true;
    if (reason !== 'circuit_breaker') this.#held.delete(id);
    else if (!this.#held.has(id)) return Boolean(this.#held.add(id));
    return false;
  }
}
