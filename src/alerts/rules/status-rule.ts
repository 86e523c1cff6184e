// mailbox_unwell: the API reports a status of a mailbox that is not known to be normal ("suspended", "locked").
import { saysDisconnected } from '../../core/guard/run-state.ts';
import type { MailboxState } from '../../core/mailbox.ts';
import { type Condition, type MailboxContext, pageLink, subjectOf } from '../condition.ts';

/**
 * mailbox_unwell, status: fires after two observations, so a word that is gone at the next look does not count. A lost
 * connection has a rule of its own.
 */
export function mailboxStatusUnknown(
  answered: 'mailbox' | 'mailboxes',
  mailbox: MailboxState,
  context: MailboxContext,
): Condition {
  const isStrange = (word: string | null | undefined) => typeof word === 'string' && !isKnown(word, context);
  const [listed, detailed] = [mailbox.entry.answer.status, mailbox.detail?.answer.status];
  const [here, elsewhere] = answered === 'mailbox' ? [detailed, listed] : [listed, detailed];
  const strange = isStrange(here);
  const active = strange ? true : here && !isStrange(elsewhere) ? false : 'unknown';
  return {
    subject: subjectOf('mailbox_unwell', mailbox, 'status'),
    severity: 'warning',
    active,
    forMs: 0,
    observations: 2,
    clearObservations: 1,
    facts: {
      title: strange
        ? `${mailbox.email}: unknown mailbox status "${here}"`
        : `${mailbox.email}: the mailbox status is ${here ?? 'not shown'}`,
      sentences: strange
        ? [
            `The API reports the status "${here}" for ${mailbox.email}. Warmwarden does not know what it means.`,
            'Warmwarden guards the mailbox as usual: it goes by the status of the warm-up.',
            'Look at the mailbox in the mailbox app. If the status is normal, add the word to alerts.rules.mailbox_unwell.known.',
          ]
        : [`The API reports the status ${here ?? 'not shown'}, which is normal.`],
      numbers: { status: here ?? null, ...pageLink(context.pageUrl, mailbox.account, mailbox.id) },
    },
  };
}

function isKnown(word: string, { rules, usualWords }: MailboxContext): boolean {
  const status = word.trim().toLowerCase();
  const known = [...usualWords, ...rules.mailboxUnwell.known.map((one) => one.toLowerCase())];
  return status === '' || known.includes(status) || saysDisconnected(status);
}
