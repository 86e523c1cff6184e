// Which findings are looked at again soon: those whose alert waits for a second observation, and breaches that are held.
import type { Alert, AlertRule } from '../model/alert.ts';
import type { Route } from '../model/answers.ts';
import { domainOf, type MailboxState } from '../model/mailbox.ts';
import { type MailboxRoute, mailboxRoutes } from '../poll/poll.ts';

/** Rules whose alerts fire or resolve on the second observation, by the route that observes. */
const rulesSeenTwice: Partial<Record<Route, readonly AlertRule[]>> = {
  mailbox: ['mailbox_disconnected', 'mailbox_status_unknown'],
  dns: ['dns_failing', 'measurement_stale'],
  blacklist: ['blacklisted', 'measurement_stale'],
};

/** Whether one of the account's alerts waits for another answer of that route about the mailbox, its domain or its ip. */
export function wantsSecondLook(mailbox: MailboxState, route: Route, alerts: Iterable<Alert>): boolean {
  return isConcerned(mailbox, route, alerts, waits);
}

function waits({ status, firesAt }: Alert): boolean {
  return status === 'pending' && firesAt === null;
}

/**
 * By which routes a mailbox is to be seen once more, for the alerts of its account that wait for it. An alert of a domain or
 * an ip waits for the mailbox that it was seen with.
 */
export function secondLooksDue(alerts: Iterable<Alert>): (mailbox: MailboxState) => readonly MailboxRoute[] {
  const waiting = Map.groupBy(
    [...alerts].filter(waits),
    ({ mailboxId, facts }) => mailboxId ?? facts.numbers['seen_with'],
  );
  return (mailbox) => {
    const about = [mailbox.id, mailbox.email].flatMap((one) => waiting.get(one) ?? []);
    return about.length === 0 ? [] : mailboxRoutes.filter((route) => wantsSecondLook(mailbox, route, about));
  };
}

/** Whether the next answer of that route may fire or resolve one of the account's alerts: it should be a measurement of now. */
export function mayDecide(mailbox: MailboxState, route: Route, alerts: Iterable<Alert>): boolean {
  return isConcerned(mailbox, route, alerts, ({ status }) => status !== 'resolved');
}

function isConcerned(
  mailbox: MailboxState,
  route: Route,
  alerts: Iterable<Alert>,
  counts: (alert: Alert) => boolean,
): boolean {
  const rules = rulesSeenTwice[route];
  if (!rules) return false;
  const objects = [mailbox.dns?.answer.domain, domainOf(mailbox.email), mailbox.blacklist?.answer.ip];
  for (const alert of alerts) {
    if (!rules.includes(alert.rule) || !counts(alert)) continue;
    const ofRoute = alert.object === null || alert.object === route;
    if (alert.mailboxId === null ? objects.includes(alert.object) : alert.mailboxId === mailbox.id && ofRoute)
      return true;
  }
  return false;
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
