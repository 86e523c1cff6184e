// Mailboxes that are back: under their old id, or under a new id with their address's history (S9). Pure.
import { underNewId } from '../guard/memory.ts';
import type { MailboxState } from '../model/mailbox.ts';

/**
 * The arrived ones with what is remembered of them; what was read before they left says nothing of now. `gone`: those that left
 * before, and known ones that the list lacks. Where two of them have one address, it is unknown whose history it is, and none
 * is taken over.
 */
export function withHistory(arrived: readonly MailboxState[], gone: readonly MailboxState[]): readonly MailboxState[] {
  if (gone.length === 0) return arrived;
  const byId = new Map(gone.map((mailbox) => [mailbox.id, mailbox]));
  const byAddress = Map.groupBy(gone, ({ email }) => email.toLowerCase());
  return arrived.map((mailbox) => {
    const same = byId.get(mailbox.id);
    if (same) return { ...mailbox, memory: same.memory, action: same.action, changes: same.changes };
    const [before, ...others] = byAddress.get(mailbox.email.toLowerCase()) ?? [];
    if (!before?.memory || others.length > 0) return mailbox;
    return { ...mailbox, memory: underNewId(before.memory, before.id, mailbox.firstSeenAt) };
  });
}

/**
 * Which of the missing have come back under another id: somebody with their address was first seen when they were
 * first missed, or later.
 */
export function replacedOf(
  missing: readonly MailboxState[],
  listed: readonly MailboxState[],
  absentSince: (mailbox: MailboxState) => number,
): ReadonlySet<string> {
  const newest = new Map<string, number>();
  for (const { email, firstSeenAt } of listed) {
    const address = email.toLowerCase();
    newest.set(address, Math.max(firstSeenAt, newest.get(address) ?? firstSeenAt));
  }
  const isReplaced = (one: MailboxState) =>
    (newest.get(one.email.toLowerCase()) ?? Number.NEGATIVE_INFINITY) >= absentSince(one);
  return new Set(missing.filter(isReplaced).map(({ id }) => id));
}
