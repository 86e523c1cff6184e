// Which of two answers about one thing is the newer one: by when each was asked for, not by when it came.
import type { Route } from '../model/answers.ts';
import { pollKey } from '../poll/poll.ts';

/** When something was asked for, as its place among all requests and writes of an account. */
export type AskedAt = number;

/**
 * superseded: an answer that was asked for later has been taken in already. outdated: a write of ours came after it was
 * asked for, so it may show the time before the write, and must not pass for somebody's change.
 */
export type Freshness = 'fresh' | 'superseded' | 'outdated';

export class AnswerOrder {
  #place: AskedAt = 0;
  /** By pollKey: when the newest answer that was taken in was asked for. */
  readonly #taken = new Map<string, AskedAt>();
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
    if (askedAt < (this.#taken.get(pollKey({ route, mailboxId })) ?? 0)) return 'superseded';
    return route === 'warmup' && askedAt < (this.#wrote.get(mailboxId) ?? 0) ? 'outdated' : 'fresh';
  }

  /** Returns what makes it as if it had not been taken in: it was lost. */
  taken(route: Route, mailboxId: string, askedAt: AskedAt): () => void {
    const key = pollKey({ route, mailboxId });
    const before = this.#taken.get(key);
    this.#taken.set(key, askedAt);
    return () => {
      if (before === undefined) this.#taken.delete(key);
      else this.#taken.set(key, before);
    };
  }

  /** Whether an answer of the route was taken in. */
  hasTaken(route: Route, mailboxId: string): boolean {
    return this.#taken.has(pollKey({ route, mailboxId }));
  }

  /** The mailbox has left: what is asked about it from now on is new. */
  forget(mailboxId: string, routes: readonly Route[]): void {
    for (const route of routes) this.#taken.delete(pollKey({ route, mailboxId }));
    this.#wrote.delete(mailboxId);
  }
}
