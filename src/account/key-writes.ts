// Whether a key may write, by the outcomes of its writes. A 403 names no cause (docs/faults.md T8): one alone may be about its mailbox. Pure.

/** A POST that the API accepted, or refused with 403. */
export interface WriteOutcome {
  readonly mailboxId: string;
  readonly accepted: boolean;
}

/** Number of refused mailboxes, with no write accepted since, that says that the key may not write. */
const refusedUntilReadOnly = 2;

export class KeyWrites {
  /** Mailboxes of which a write was ever accepted. */
  readonly #accepted = new Set<string>();
  /** Mailboxes of which a write was refused, since the last one that was accepted. */
  readonly #refused = new Set<string>();
  #areAllowed: boolean | null = null;

  /** `earlier`: outcomes from before this process, the oldest first. That the key could write then does not show that it still can. */
  constructor(earlier: readonly WriteOutcome[]) {
    for (const write of earlier) this.note(write);
    this.#areAllowed = this.#areAllowed === false ? false : null;
  }

  /** null: nothing is known yet. */
  get areAllowed(): boolean | null {
    return this.#areAllowed;
  }

  note({ mailboxId, accepted }: WriteOutcome): void {
    if (accepted) {
      this.#accepted.add(mailboxId);
      this.#refused.clear();
      this.#areAllowed = true;
      return;
    }
    this.#refused.add(mailboxId);
    if (this.#refused.size >= refusedUntilReadOnly || this.#accepted.has(mailboxId)) this.#areAllowed = false;
  }
}
