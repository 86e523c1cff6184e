// stale_data: the DNS or blacklists of a mailbox were measured too long ago, or their answers can no longer be read.

import { type MeasuredRoute, measuredAt } from '../../core/answers.ts';
import { domainOf, type MailboxState } from '../../core/mailbox.ts';
import { type EpochMs, secondMs } from '../../core/time.ts';
import { momentText } from '../../core/wording/phrases.ts';
import { type Condition, type MailboxContext, pageLink, subjectOf } from '../condition.ts';

const checkOf: Readonly<Record<MeasuredRoute, string>> = { dns: 'DNS check', blacklist: 'blacklist check' };
const unseen: Readonly<Record<MeasuredRoute, string>> = {
  dns: 'Until a fresh check arrives, Warmwarden does not notice when SPF, DKIM or DMARC stops passing.',
  blacklist: 'Until a fresh check arrives, Warmwarden does not notice new blacklist entries.',
};

/**
 * stale_data, per route: fires after two observations. The second one asks the API to measure now (refresh=true), so an
 * old measurement is one that the API did not replace on request. The passing of time only shows that no answer came.
 */
export function measurementStale(
  route: MeasuredRoute,
  answered: MeasuredRoute | 'time',
  mailbox: MailboxState,
  context: MailboxContext,
): Condition {
  const observed = mailbox[route];
  const madeAt = measuredAt(observed?.answer);
  const { olderThanMs, unreadSince } = context.staleMeasurement(route);
  const unread = (observed?.at ?? mailbox.firstSeenAt) < unreadSince;
  const old = madeAt !== null && observed !== null && observed.at - madeAt > olderThanMs;
  const known = answered !== 'time' && madeAt !== null;
  const active = unread ? true : known ? old : 'unknown';
  const check = checkOf[route];
  const zone = context.rules.timeZone;
  return {
    subject: subjectOf('stale_data', mailbox, route),
    severity: 'warning',
    active,
    forMs: 0,
    observations: 2,
    clearObservations: 1,
    facts: {
      title: `${mailbox.email}: the ${check} is ${active === true ? 'out of date' : 'up to date again'}`,
      sentences:
        active === true
          ? [
              unread ? unreadText(check, observed?.at ?? null, mailbox, zone) : oldText(check, mailbox, madeAt, zone),
              unseen[route],
              unread
                ? 'The log has the reason why the polls failed.'
                : 'Run the check in the mailbox app. If it stays out of date, ask the provider.',
            ]
          : [`The API made the ${check} on ${momentText(madeAt ?? context.now, zone)}.`],
      numbers: {
        checked_at: madeAt === null ? null : new Date(madeAt).toISOString(),
        data_age_seconds: madeAt === null ? null : Math.max(0, Math.round((context.now - madeAt) / secondMs)),
        ...pageLink(context.pageUrl, mailbox.account, mailbox.id),
      },
    },
  };
}

function oldText(check: string, { email }: MailboxState, madeAt: EpochMs | null, zone: string): string {
  const when = madeAt === null ? '' : ` on ${momentText(madeAt, zone)}`;
  return `The API made its last ${check} of ${domainOf(email)}${when}, although Warmwarden asked it for a new one.`;
}

function unreadText(check: string, readAt: EpochMs | null, { firstSeenAt }: MailboxState, zone: string): string {
  return readAt === null
    ? `Warmwarden has not read any ${check} since it first saw the mailbox on ${momentText(firstSeenAt, zone)}: four polls have failed.`
    : `Warmwarden last read the ${check} on ${momentText(readAt, zone)}. Four polls since then have failed.`;
}
