// Compares a mailbox list with the mailboxes that we know: who is new, changed, absent, gone. Pure. FAULTS.md H23, S8.
import type { MailboxEntry, MailboxList, Observed } from '../model/answers.ts';
import type { MailboxState } from '../model/mailbox.ts';
import { type EpochMs, hourMs } from '../model/time.ts';
import { newMailbox } from './observe.ts';

/** A mailbox is gone when this many lists in a row were without it. */
const listsUntilGone = 2;
/** A list that lost a larger share of this account's mailboxes is not believed until the loss lasted for an hour. */
const believableLossShare = 0.2;
const believableLossCount = 2;
const lossHoldMs = hourMs;

export interface RosterChanges {
  readonly arrived: readonly MailboxState[];
  /** Known ones whose entry says something new, or that are back. */
  readonly changed: readonly MailboxState[];
  readonly absent: readonly MailboxState[];
  readonly left: readonly MailboxState[];
  /** Ids whose status, health score or daily limit moved: their statistics are due at once. */
  readonly stirred: readonly string[];
}

function sameEntry(a: MailboxEntry, b: MailboxEntry): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function stirs(before: MailboxEntry, after: MailboxEntry): boolean {
  return (
    before.status !== after.status || before.healthScore !== after.healthScore || before.dailyLimit !== after.dailyLimit
  );
}

export interface Roster {
  readonly account: string;
  readonly known: readonly MailboxState[];
  readonly list: Observed<MailboxList>;
  readonly selects: (mailbox: { readonly email: string; readonly id: string }) => boolean;
  /** Since when a mailbox is absent, by id. */
  readonly absentSince: ReadonlyMap<string, EpochMs>;
}

/** What a list changes. A truncated list says nothing about those who are not in it. */
export function compareRoster({ account, known, list, selects, absentSince }: Roster): RosterChanges {
  const at = list.at;
  const unseen = new Map(known.map((mailbox) => [mailbox.id, mailbox]));
  const [arrived, changed]: [MailboxState[], MailboxState[]] = [[], []];
  const stirred: string[] = [];
  for (const entry of list.answer.mailboxes) {
    if (!selects(entry)) continue;
    const before = unseen.get(entry.id);
    unseen.delete(entry.id);
    if (!before) {
      arrived.push(newMailbox(account, { at, answer: entry }));
      continue;
    }
    if (stirs(before.entry.answer, entry)) stirred.push(entry.id);
    if (before.missingLists > 0 || !sameEntry(before.entry.answer, entry)) {
      changed.push({ ...before, email: entry.email, missingLists: 0, entry: { at, answer: entry } });
    }
  }
  if (list.answer.truncated) return { arrived, changed, absent: [], left: [], stirred };
  const missing = [...unseen.values()].map((mailbox) => ({ ...mailbox, missingLists: mailbox.missingLists + 1 }));
  const doubtful = missing.length > Math.max(believableLossCount, known.length * believableLossShare);
  const isGone = (mailbox: MailboxState) =>
    mailbox.missingLists >= listsUntilGone && (!doubtful || at - (absentSince.get(mailbox.id) ?? at) >= lossHoldMs);
  return {
    arrived,
    changed,
    absent: missing.filter((mailbox) => !isGone(mailbox)),
    left: missing.filter(isGone),
    stirred,
  };
}
