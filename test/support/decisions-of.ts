// The stored decisions of a mailbox of which nothing else is known, the newest first.
import type { MailboxState } from '../../src/core/mailbox.ts';
import type { Store } from '../../src/store/store.ts';

export async function decisionsOf(store: Pick<Store, 'entriesOf'>, account: string, id: string, limit: number) {
  const mailbox = { account, id, memory: null, verdict: null, stats: null };
  return (await store.entriesOf(mailbox as MailboxState, Number.MAX_SAFE_INTEGER, limit)).decisions;
}
