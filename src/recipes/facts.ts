// What the views know of the running program: the accounts as they are, and the policies' near limits.
import type { Fleet } from '../fleet/fleet.ts';
import { type MailboxState, mailboxKey } from '../model/mailbox.ts';
import { defaultPolicy, type Ppm } from '../model/policy.ts';
import type { EpochMs } from '../model/time.ts';
import type { Facts } from './sandbox.ts';

/** The facts of a daemon at a moment. */
export function factsOf(fleet: Fleet, nearLimitPpmOf: (mailbox: MailboxState) => Ppm, now: EpochMs): Facts {
  const usual = defaultPolicy.nearLimitPpm;
  const others: Record<string, Ppm> = {};
  for (const mailbox of fleet.mailboxes()) {
    const ppm = nearLimitPpmOf(mailbox);
    if (ppm !== usual) others[mailboxKey(mailbox.account, mailbox.id)] = ppm;
  }
  return { now, accounts: [...fleet.accounts()], nearLimitPpm: { usual, others } };
}
