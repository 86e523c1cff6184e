// How a mailbox is called in metrics and on the page: by its address, and by its id too where the address is taken twice.
import type { MailboxState } from '../model/mailbox.ts';
import { visibleText } from '../wording/visible-text.ts';

/**
 * Names for mailboxes, unique within an account. Two of one address are both `email (id)`; an address that itself ends
 * in a parenthesis gets its id too, so that it can't take another one's name.
 */
export class MailboxNames {
  readonly #once = new Set<string>();
  readonly #twice = new Set<string>();

  /** Every mailbox must have been noted before one is named. */
  note(mailbox: MailboxState): void {
    const place = placeOf(mailbox);
    (this.#once.has(place) ? this.#twice : this.#once).add(place);
  }

  nameOf(mailbox: MailboxState): string {
    const email = visibleText(mailbox.email);
    const alone = !this.#twice.has(placeOf(mailbox)) && !email.endsWith(')');
    return alone ? email : `${email} (${visibleText(mailbox.id)})`;
  }
}

/** A mailbox is another object when anything about it is another. */
const places = new WeakMap<MailboxState, string>();

function placeOf(mailbox: MailboxState): string {
  const known = places.get(mailbox);
  if (known !== undefined) return known;
  const place = `${mailbox.account}\n${visibleText(mailbox.email)}`;
  places.set(mailbox, place);
  return place;
}

/** The names of some mailboxes among all of the fleet. */
export function mailboxLabels(
  some: readonly MailboxState[],
  fleet: Iterable<MailboxState>,
): ReadonlyMap<MailboxState, string> {
  const names = new MailboxNames();
  const addresses = new Set(some.map(({ email }) => visibleText(email)));
  for (const mailbox of fleet) if (addresses.has(visibleText(mailbox.email))) names.note(mailbox);
  return new Map(some.map((mailbox) => [mailbox, names.nameOf(mailbox)]));
}
