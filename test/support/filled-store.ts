// A store with mailboxes in it, as a daemon leaves it.
import { Store } from '../../src/store/store.ts';
import { arrivedMailbox, noAlerts, now } from '../store/records.ts';

/** Writes the mailboxes into a new store at the path. */
export async function fillStore(
  path: string,
  mailboxes: readonly { readonly account: string; readonly email: string }[],
): Promise<void> {
  const store = await Store.open(path, now);
  const list = { absent: [], left: [], leftAt: now, alerts: noAlerts, breaker: null };
  for (const account of new Set(mailboxes.map((mailbox) => mailbox.account))) {
    const present = mailboxes
      .filter((mailbox) => mailbox.account === account)
      .map((mailbox, index) => arrivedMailbox(`${account}-${index}`, mailbox));
    await store.recordList({ ...list, account, present });
  }
  await store.close();
}
