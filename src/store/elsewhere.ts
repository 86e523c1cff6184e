// Reads the mailboxes of accounts that other replicas guard: of what was read before only those that were written since.
import type { MailboxState } from '../model/mailbox.ts';
import type { MailboxKeys, Mark, Others } from './database.ts';
import type { Gate } from './gate.ts';
import { loadMailboxes, loadThese } from './mailboxes.ts';

/** What a look has seen of others, for the next one. */
export interface Seen {
  readonly accounts: readonly string[];
  readonly mark: Mark | null;
}

export interface Elsewhere {
  /** Of accounts that were seen before, only those that were written since. */
  readonly mailboxes: readonly MailboxState[];
  /** All mailboxes of these accounts are here. */
  readonly whole: readonly string[];
  /** What was written of the other accounts since. One that is not among `mailboxes` has left. */
  readonly written: readonly MailboxKeys[];
  readonly mark: Mark | null;
}

export class StoredElsewhere {
  readonly #gate: Gate;
  readonly #others: Others | null;

  constructor(gate: Gate, others: Others | null) {
    this.#gate = gate;
    this.#others = others;
  }

  /** `seen` null: all of it. */
  read(accounts: readonly string[], seen: Seen | null): Promise<Elsewhere> {
    return this.#gate.read(async (db) => {
      // First the mark: what is written meanwhile is read again next time.
      const mark = (await this.#others?.markNow()) ?? null;
      const known = accounts.filter((account) => seen?.accounts.includes(account));
      const since = known.length > 0 ? (seen?.mark ?? null) : null;
      const written = since === null ? null : await this.#others?.writtenSince(known, since);
      const whole = written ? accounts.filter((account) => !known.includes(account)) : accounts;
      const mailboxes: MailboxState[] = [...(await loadMailboxes(db, whole))];
      for (const keys of written ?? []) mailboxes.push(...(await loadThese(db, keys)));
      return { mailboxes, whole, written: written ?? [], mark };
    });
  }
}
