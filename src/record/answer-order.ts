// Which of two answers about one thing is the newer one: by when each was asked for, not by when it came.
import type { Route } from '../model/answers.ts';

/** When something was asked for, as its place among all requests and writes of an account. */
export type AskedAt = number;

/** Before the first of them. */
const never: AskedAt = 0;

/**
 * superseded: an answer that was asked for later has been taken in already. outdated: a write of ours came after it was
 * asked for, so it may show the time before the write, and must not pass for somebody's change.
 */
export type Freshness = 'fresh' | 'superseded' | 'outdated';

export class AnswerOrder {
  #place: AskedAt = 0;
  /** By mailbox and route: when the newest answer that was taken in was asked for. */
  readonly #taken = new Map<string, Partial<Record<Route, AskedAt>>>();
  /** By mailbox: the newest write, opened or settled. */
  readonly #wrote = new Map<string, AskedAt>();

  /** A request is about to be made. */
  asking(): AskedAt {
    this.#place += 1;
    return this.#place;
  }

  /** A write to the mailbox begins or ends. */
  wrote(mailboxId: string): void {
    this.#wrote.set(mailboxId, this.asking());
  }

  /** Only the warm-up is what our writes change. */
  freshnessOf(route: Route, mailboxId: string, askedAt: AskedAt): Freshness {
    if (askedAt < (this.#taken.get(mailboxId)?.[route] ?? never)) return 'superseded';
    return route === 'warmup' && askedAt < (this.#wrote.get(mailboxId) ?? never) ? 'outdated' : 'fresh';
  }

  /** Returns what makes it as if it had not been taken in: it was lost. */
  taken(route: Route, mailboxId: string, askedAt: AskedAt): () => void {
    const taken = this.#of(mailboxId);
    const before = taken[route] ?? never;
    taken[route] = askedAt;
    return () => {
      taken[route] = before;
    };
  }

  #of(mailboxId: string): Partial<Record<Route, AskedAt>> {
    const known = this.#taken.get(mailboxId);
    if (known) return known;
    const nothing = {};
    this.#taken.set(mailboxId, nothing);
    return nothing;
  }

  /** Whether an answer of the route was taken in. */
  hasTaken(route: Route, mailboxId: string): boolean {
    return (this.#taken.get(mailboxId)?.[route] ?? never) > never;
  }

  /** The mailbox has left: what is asked about it from now on is new. */
  forget(mailboxId: string): void {
    this.#taken.delete(mailboxId);
    this.#wrote.delete(mailboxId);
  }
}
