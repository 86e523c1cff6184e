// Which answers of which mailboxes are still to come: a part of a first sweep, counted.
import { type MailboxRoute, mailboxRoutes } from '../poll/poll.ts';

export class Unread {
  /** By mailbox: a bit for each route. A fleet of newcomers has few of anything else. */
  readonly #routes = new Map<string, number>();
  #polls = 0;

  /** Mailboxes of which something is still to come. */
  get mailboxes(): number {
    return this.#routes.size;
  }

  get polls(): number {
    return this.#polls;
  }

  add(mailboxId: string, routes: readonly MailboxRoute[]): void {
    let waited = this.#routes.get(mailboxId) ?? 0;
    for (const route of routes) {
      if ((waited & bitOf(route)) === 0) this.#polls += 1;
      waited |= bitOf(route);
    }
    if (waited !== 0) this.#routes.set(mailboxId, waited);
  }

  /** It came, or failed. False when it was not waited for. */
  delete(mailboxId: string, route: MailboxRoute): boolean {
    const routes = this.#routes.get(mailboxId) ?? 0;
    const left = routes & ~bitOf(route);
    if (left === routes) return false;
    this.#polls -= 1;
    if (left === 0) this.#routes.delete(mailboxId);
    else this.#routes.set(mailboxId, left);
    return true;
  }

  leave(mailboxId: string): void {
    const routes = this.#routes.get(mailboxId) ?? 0;
    for (const route of mailboxRoutes) if ((routes & bitOf(route)) !== 0) this.#polls -= 1;
    this.#routes.delete(mailboxId);
  }
}

const bitOf = (route: MailboxRoute) => 1 << mailboxRoutes.indexOf(route);
