// Names of accounts in a sentence. Pure.
import type { AccountState } from '../model/mailbox.ts';
import { firstText } from '../wording/phrases.ts';

/** Of the accounts of which it is true. */
export function namesIn(
  accounts: readonly AccountState[],
  which: (account: AccountState) => boolean,
): readonly string[] {
  return accounts.filter(which).map(({ name }) => name);
}

/** So many accounts are named. */
const namesShown = 5;

/** The first ones, and how many more. */
export function namesOf(names: readonly string[]): string {
  return firstText(names, namesShown);
}
