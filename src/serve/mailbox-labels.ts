// How a mailbox is called in metrics and on the page: by its address, and by its id too where the address is taken twice.
import { type MailboxKey, type MailboxState, mailboxKey } from '../model/mailbox.ts';
import { visibleText } from './visible-text.ts';

/**
 * The `mailbox` label of every mailbox, unique within its account. Two of one address are both `email (id)`; an address
 * that itself ends in a parenthesis gets its id too, so that it can't take another one's name.
 */
export function mailboxLabels(mailboxes: Iterable<MailboxState>, by: 'email' | 'id'): ReadonlyMap<MailboxKey, string> {
  const all = [...mailboxes];
  const taken = new Map<string, number>();
  const place = (mailbox: MailboxState) => `${mailbox.account}\n${visibleText(mailbox.email)}`;
  for (const mailbox of all) taken.set(place(mailbox), (taken.get(place(mailbox)) ?? 0) + 1);
  return new Map(
    all.map((mailbox) => {
      const email = visibleText(mailbox.email);
      const alone = taken.get(place(mailbox)) === 1 && !email.endsWith(')');
      const byEmail = alone ? email : `${email} (${visibleText(mailbox.id)})`;
      return [mailboxKey(mailbox.account, mailbox.id), by === 'id' ? visibleText(mailbox.id) : byEmail];
    }),
  );
}
