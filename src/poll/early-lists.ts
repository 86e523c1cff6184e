// When the mailbox list may be read before its cadence: it shows the whole fleet in one request, and may be large. Pure.

/** Lists in a row that stirred nothing and still double the time until the next; the cadence ends it long before. */
const maxDoublings = 20;

/** Times are milliseconds of the monotonic clock, sizes bytes on the wire. */
export class EarlyLists {
  #calmInARow = 0;
  #isEarly = false;
  /** Of the last list; 0 until one was read. */
  #listBytes = 0;
  #earlyBytes = 0;
  #otherBytes = 0;

  /** An answer to a poll, or to a list of this account. */
  received(route: string, bytes: number): void {
    if (route === 'mailboxes') this.#listBytes = bytes;
    if (route === 'mailboxes' && this.#isEarly) this.#earlyBytes += bytes;
    else this.#otherBytes += bytes;
  }

  /** A list is asked for. */
  asked(isEarly: boolean): void {
    this.#isEarly = isEarly;
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
    if (this.#earlyBytes + this.#listBytes > this.#otherBytes) return null;
    const spacingMs = leastMs * 2 ** Math.min(this.#calmInARow, maxDoublings);
    return askedAt + Math.max(leastMs, Math.min(spacingMs, cadenceMs));
  }
}
