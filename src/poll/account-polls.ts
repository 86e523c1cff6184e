// The polls of an account as a whole, its health and its mailbox list: when each is due, and what has to come between two. Pure.

export const accountRoutes = ['mailboxes', 'health'] as const;
export type AccountRoute = (typeof accountRoutes)[number];

interface AccountPoll {
  dueAt: number | null;
  askedAt: number;
  /** Polls of mailboxes since then. */
  since: number;
}

/**
 * So many polls of mailboxes, if any can be made, come between two of health or of the list. Their spacing in time is wider,
 * unless the API allows far fewer requests than the budget: then they would take every request.
 */
export const betweenAccountPolls = 4;

/** Times are milliseconds of the monotonic clock. */
export class AccountPolls {
  readonly #polls: Readonly<Record<AccountRoute, AccountPoll>> = {
    mailboxes: { dueAt: null, askedAt: Number.NEGATIVE_INFINITY, since: betweenAccountPolls },
    health: { dueAt: null, askedAt: Number.NEGATIVE_INFINITY, since: betweenAccountPolls },
  };

  /** null: it is not. */
  dueAt(route: AccountRoute): number | null {
    return this.#polls[route].dueAt;
  }

  /** When it was made last. */
  askedAt(route: AccountRoute): number {
    return this.#polls[route].askedAt;
  }

  /** A run of the kind makes it due, though not sooner after the last one than this. */
  run(route: AccountRoute, now: number, spacingMs: number): void {
    const one = this.#polls[route];
    one.dueAt ??= Math.max(now, one.askedAt + spacingMs);
  }

  /** It is made at that time, whatever the cadence says. */
  add(route: AccountRoute, dueAt: number): void {
    const one = this.#polls[route];
    one.dueAt = Math.min(one.dueAt ?? Number.POSITIVE_INFINITY, dueAt);
  }

  /** Whether so many polls of mailboxes were made since the last one of the kind. */
  isSpaced(route: AccountRoute, between: number): boolean {
    return this.#polls[route].since >= between;
  }

  taken(route: AccountRoute, now: number): void {
    Object.assign(this.#polls[route], { dueAt: null, askedAt: now, since: 0 });
  }

  /** A poll of a mailbox was made. */
  mailboxPolled(): void {
    for (const route of accountRoutes) this.#polls[route].since += 1;
  }
}
