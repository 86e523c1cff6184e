// Mailboxes that the keys of two accounts see, in a sentence: which account guards them.
import type { GuardedElsewhere } from '../model/mailbox.ts';
import { counted, listText } from './phrases.ts';

/** Without a full stop. */
export function overlapText(elsewhere: readonly Pick<GuardedElsewhere, 'account'>[]): string {
  const accounts = [...new Set(elsewhere.map(({ account }) => account))];
  const by = accounts.length === 1 ? `account ${accounts[0]}` : `the accounts ${listText(accounts)}`;
  const [are, them] = elsewhere.length === 1 ? ['is', 'it'] : ['are', 'them'];
  return `${counted(elsewhere.length, 'mailbox', 'mailboxes')} of its list ${are} guarded by ${by}, whose key sees ${them}, too`;
}
