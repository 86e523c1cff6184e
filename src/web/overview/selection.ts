// Accounts whose list does not have what the configuration selects: those mailboxes are not guarded. Pure.
import type { AccountState } from '../../core/mailbox.ts';
import { counted } from '../../core/wording/phrases.ts';
import { namesIn, namesOf } from './firing-alerts.ts';

interface Facts {
  readonly accounts: readonly AccountState[];
}

/** The configuration includes mailboxes by name that are not in its list. */
export function isLacking({ unlisted }: AccountState): boolean {
  return unlisted.length > 0;
}

/** For the headline; none where every list has them. */
export function unlistedSentence({ accounts }: Facts): readonly string[] {
  const count = accounts.reduce((sum, { unlisted }) => sum + unlisted.length, 0);
  if (count === 0) return [];
  const are = count === 1 ? 'is' : 'are';
  return [
    `NOT GUARDED: ${counted(count, 'mailbox', 'mailboxes')} that the configuration includes ${are} not in the mailbox list.`,
  ];
}

/** Read, and nothing there is selected: the configuration may be wrong. */
export function isEmpty({ listed, forecast }: AccountState): boolean {
  return listed && forecast?.mailboxes === 0;
}

/** What to check where nothing is selected, with a space before it; empty when there is no such account. */
export function emptyText({ accounts }: Facts): string {
  const empty = namesIn(accounts, isEmpty);
  return empty.length === 0
    ? ''
    : ` No mailbox of ${namesOf(empty)} is guarded: the mailbox list is empty, or the configuration selects no mailbox in it. Check whether the key can see the mailboxes, and check \`include\` and \`exclude\`.`;
}

/** The same where the list lacks mailboxes. */
export function unlistedText({ accounts }: Facts): string {
  const lacking = namesIn(accounts, isLacking);
  return lacking.length === 0
    ? ''
    : ` Check the spelling in \`include\` of ${namesOf(lacking)}, and whether ${lacking.length === 1 ? 'its key' : 'their keys'} can see every mailbox.`;
}
