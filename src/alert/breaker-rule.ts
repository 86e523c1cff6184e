// guard_held: the breaker holds every action under one base_url. One message with the list.
import { type BreakerState, heldEntries } from '../model/breaker.ts';
import type { EpochMs } from '../model/time.ts';
import { counted, momentText, spanText } from '../wording/phrases.ts';
import type { Condition } from './condition.ts';

/** Mailboxes that the message names; the page has them all. */
const namedMailboxes = 10;

/** The alert carries one account's name; the others under the API are in the list. */
export function guardHeld(
  breaker: BreakerState,
  about: { readonly api: string; readonly account: string; readonly windowMs: number; readonly now: EpochMs },
): Condition {
  const held = heldEntries(breaker);
  const domains = new Set(held.map(({ domain }) => domain)).size;
  const open = breaker.openSince !== null;
  const named = held.slice(0, namedMailboxes).map(({ account, email }) => `${email} (${account})`);
  const more = held.length > named.length ? ` and ${held.length - named.length} more` : '';
  const onward = breaker.atFirstSight
    ? 'These were seen for the first time, so nothing happens until you release it.'
    : `After ${spanText(about.windowMs)} the worst are acted on, a tenth of the fleet each 15 minutes, if fresh data still says so.`;
  return {
    subject: { rule: 'guard_held', account: about.account, mailboxId: null, email: null, object: about.api },
    severity: 'critical',
    active: open,
    forMs: 0,
    observations: 1,
    clearObservations: 1,
    ...(breaker.openSince === null ? {} : { since: breaker.openSince }),
    facts: {
      title: open
        ? `${counted(held.length, 'mailbox', 'mailboxes')} held: too many want action at once`
        : 'the breaker is closed again',
      sentences: open
        ? [
            `Since ${momentText(breaker.openSince ?? about.now)} ${counted(held.length, 'mailbox', 'mailboxes')} on ${counted(domains, 'domain')} breach at the same time: that looks like a fault of the provider or of the data.`,
            `NOT ACTED on: ${named.join(', ')}${more}.`,
            onward,
            'Look at the whole. If the bounces are real, release the breaker; if not, nothing is to be done.',
          ]
        : ['No mailbox is held for an action any more.'],
      numbers: { held: held.length, domains, api: about.api },
    },
  };
}
