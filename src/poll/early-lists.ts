// When the mailbox list may be read before its cadence: it shows the whole fleet in one request, and may be large. Pure.

/** Lists in a row that stirred nothing and still double the time until the next; the cadence ends it long before. */
const maxDoublings = 20;
/** What other polls brought is credit for at most so many lists: a sweep of the fleet is not followed by a burst of them. */
const maxListsOnCredit = 2;

/** Times are milliseconds of the monotonic clock, sizes bytes on the wire. */
export class EarlyLists {
  #calmInARow = 0;
  /** Of the last list; 0 until one was read. */
  #listBytes = 0;
  /** What other polls brought more than lists, since long enough. */
  #creditBytes = 0;

  /** An answer to a poll, or to a list of this account. */
  received(route: string, bytes: number): void {
    const isList = route === 'mailboxes';
    if (isList) this.#listBytes = bytes;
    const most = maxListsOnCredit * this.#listBytes;
    // Lists of the cadence are read in any case: what they take beyond the rest is not made up for later.
    this.#creditBytes = Math.min(most, Math.max(-most, this.#creditBytes + (isList ? -bytes : bytes)));
  }

  /** A list was taken in. `stirred`: an entry gave a reason to read a mailbox soon. */
  listed(stirred: boolean): void {
    this.#calmInARow = stirred ? 0 : this.#calmInARow + 1;
  }

  /** From when on the list may be read early, given when it was asked for last; null: not by these bytes. */
  mayAskFrom(
    askedAt: number,
    { leastMs, cadenceMs }: { readonly leastMs: number; readonly cadenceMs: number },
  ): number | null {
    if (this.#creditBytes < this.#listBytes) return null;
    const spacingMs = leastMs * 2 ** Math.min(this.#calmInARow, maxDoublings);
    return askedAt + Math.max(leastMs, Math.min(spacingMs, cadenceMs));
  }
}
