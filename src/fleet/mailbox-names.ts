// How a mailbox is called in metrics and on the page: by its address, and by its id too where the address is taken twice.
import type { MailboxState } from '../model/mailbox.ts';
import { visibleText } from '../wording/visible-text.ts';

type Named = Pick<MailboxState, 'account' | 'id' | 'email'>;

/**
 * Names for mailboxes, unique within an account. Two of one address are both `email (id)`; an address that itself ends
 * in a parenthesis gets its id too, so that it can't take another one's name.
 */
export class MailboxNames {
  /** How many mailboxes have an address: by account, then by the address as people see it. */
  readonly #counts = new Map<string, Map<string, number>>();

  add(mailbox: Named): void {
    this.#count(mailbox, 1);
  }

  remove(mailbox: Named): void {
    this.#count(mailbox, -1);
  }

  removeAccount(account: string): void {
    this.#counts.delete(account);
  }

  nameOf({ account, id, email }: Named): string {
    const address = visibleText(email);
    const isShared = (this.#counts.get(account)?.get(address) ?? 0) > 1;
    return isShared || address.endsWith(')') ? `${address} (${visibleText(id)})` : address;
  }

  #count({ account, email }: Named, more: 1 | -1): void {
    const ofAccount = this.#counts.get(account) ?? new Map<string, number>();
    this.#counts.set(account, ofAccount);
    const address = visibleText(email);
    const count = (ofAccount.get(address) ?? 0) + more;
    if (count > 0) ofAccount.set(address, count);
    else ofAccount.delete(address);
  }
}
