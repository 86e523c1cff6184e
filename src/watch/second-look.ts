// Which findings are looked at again soon: those whose alert waits for a second observation. Pure.
import type { Alert, AlertRule } from '../model/alert.ts';
import type { Route } from '../model/answers.ts';
import { domainOf, type MailboxState } from '../model/mailbox.ts';

/** Rules whose alerts fire on the second observation, by the route that observes. */
const ruleSeenTwice: Partial<Record<Route, AlertRule>> = {
  mailbox: 'mailbox_disconnected',
  dns: 'dns_failing',
  blacklist: 'blacklisted',
};

/** Whether one of the alerts waits for another answer of that route about the mailbox, its domain or its ip. */
export function wantsSecondLook(mailbox: MailboxState, route: Route, alerts: Iterable<Alert>): boolean {
  const rule = ruleSeenTwice[route];
  if (!rule) return false;
  const objects = [mailbox.dns?.answer.domain, domainOf(mailbox.email), mailbox.blacklist?.answer.ip];
  for (const alert of alerts) {
    const waits = alert.rule === rule && alert.status === 'pending' && alert.firesAt === null;
    if (!waits || alert.account !== mailbox.account) continue;
    if (alert.mailboxId === null ? objects.includes(alert.object) : alert.mailboxId === mailbox.id) return true;
  }
  return false;
}
