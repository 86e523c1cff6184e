// The mailbox list that was read last. The API need not send it again while its ETag is the same (RFC 9110, section 13.1.2); but some
// answer 304 to whatever they are asked, so it is not taken at its word for long.

import { isSameEntry, type MailboxEntry, type MailboxList } from '../core/answers.ts';
import { minuteMs } from '../core/time.ts';
import { inTurns } from '../world/world.ts';
import type { AnswerHeaders } from './http/exchange.ts';
import type { Known } from './known-bodies.ts';

/** Time after which the whole list is asked for, whatever its ETag. */
const wholeAfterMs = 10 * minuteMs;

/** Finds the entry of a mailbox in the list that is believed. */
export type KnownEntry = (id: string) => MailboxEntry | undefined;

/** Times are milliseconds of the monotonic clock. */
export class LastList {
  #known: Known<MailboxList> | null = null;
  #etag: string | null = null;
  #readAt = Number.NEGATIVE_INFINITY;

  /** The believed list, and the ETag with which the API may say that it is unchanged; null if it is to send it. */
  askedWith(now: number): { readonly believed: Known<MailboxList> | null; readonly etag: string | null } {
    return { believed: this.#known, etag: now - this.#readAt < wholeAfterMs ? this.#etag : null };
  }

  /** The API sent it. */
  remember(known: Known<MailboxList>, headers: AnswerHeaders, now: number): void {
    this.#known = known;
    this.#etag = typeof headers['etag'] === 'string' ? headers['etag'] : null;
    this.#readAt = now;
  }

  /** Makes the next request ask for the whole list: an answer about a mailbox contradicted it. */
  doubted(): void {
    this.#etag = null;
  }
}

/** The list as it is kept: an entry that says what is known is the known one. */
export async function keptList(list: MailboxList, known: KnownEntry): Promise<MailboxList> {
  const mailboxes: MailboxEntry[] = [];
  await inTurns(list.mailboxes, (piece) => {
    for (const entry of piece) mailboxes.push(knownAs(entry, known));
  });
  return { ...list, mailboxes };
}

function knownAs(entry: MailboxEntry, known: KnownEntry): MailboxEntry {
  const before = known(entry.id);
  if (!before) return entry;
  if (isSameEntry(before, entry)) return before;
  // The same names, not another text that reads the same.
  const { id, email } = before;
  return { ...entry, id, email: entry.email === email ? email : entry.email };
}
