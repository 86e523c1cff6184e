// First reading of mailboxes, in the order of their arrival: first the warm-up and statistics of all, by which the
// guard judges; then all other kinds that were never read.
import type { SweepPart } from '../../core/mailbox.ts';
import { type MailboxRoute, mailboxRoutes } from './poll.ts';

/** Kinds by which the guard judges, in the order of their requests. */
export const judgedRoutes = ['warmup', 'stats'] as const satisfies readonly MailboxRoute[];

export interface SweepPoll {
  readonly route: MailboxRoute;
  readonly mailboxId: string;
}

/** Returns the part of a sweep that reads a kind. */
export function partOf(route: MailboxRoute): SweepPart {
  return (judgedRoutes as readonly MailboxRoute[]).includes(route) ? 'judging' : 'details';
}

const routesOf: Readonly<Record<SweepPart, readonly MailboxRoute[]>> = {
  judging: judgedRoutes,
  details: mailboxRoutes.filter((route) => partOf(route) === 'details'),
};

/** Mailboxes that were never read, or only in part. */
export class Sweep {
  /** Unread kinds of each mailbox in their order, with mailboxes in the order of their arrival. */
  readonly #unread = new Map<string, readonly MailboxRoute[]>();
  /** Mailboxes that are to be judged sooner. */
  readonly #hastened = new Set<string>();
  #since: number | null = null;

  /** Number of polls that are left. */
  get polls(): number {
    return [...this.#unread.values()].reduce((sum, { length }) => sum + length, 0);
  }

  /** Time at which the oldest unread mailbox joined, or null if there is none. */
  get since(): number | null {
    return this.#since;
  }

  join(mailboxId: string, routes: readonly MailboxRoute[], now: number): void {
    if (routes.length === 0) return;
    this.#unread.set(mailboxId, routes);
    this.#since ??= now;
  }

  leave(mailboxId: string): void {
    this.#unread.delete(mailboxId);
    this.#hastened.delete(mailboxId);
    if (this.#unread.size === 0) this.#since = null;
  }

  /**
   * Moves a mailbox to the front. Returns false if the guard does not judge by that kind, or if it was read already.
   */
  hasten(mailboxId: string, route: MailboxRoute): boolean {
    if (partOf(route) !== 'judging' || !this.#unread.get(mailboxId)?.includes(route)) return false;
    this.#hastened.add(mailboxId);
    return true;
  }

  /** Returns the next poll of a part among the permitted kinds, or null if none is left. Does not remove it. */
  next(part: SweepPart, mayAsk: (route: MailboxRoute) => boolean = () => true): SweepPoll | null {
    const routes = routesOf[part].filter(mayAsk);
    if (routes.length === 0) return null;
    for (const mailboxId of part === 'judging' ? this.#hastened : []) {
      const route = this.#firstOf(mailboxId, routes);
      if (route) return { route, mailboxId };
    }
    for (const mailboxId of this.#unread.keys()) {
      const route = this.#firstOf(mailboxId, routes);
      if (route) return { route, mailboxId };
    }
    return null;
  }

  /** Records that a kind is being read, whether or not it was next. */
  taken({ route, mailboxId }: SweepPoll): void {
    const left = this.#unread.get(mailboxId)?.filter((one) => one !== route);
    if (!left) return;
    if (!left.some((one) => partOf(one) === 'judging')) this.#hastened.delete(mailboxId);
    if (left.length > 0) this.#unread.set(mailboxId, left);
    else this.leave(mailboxId);
  }

  #firstOf(mailboxId: string, routes: readonly MailboxRoute[]): MailboxRoute | undefined {
    const unread = this.#unread.get(mailboxId) ?? [];
    return routes.find((route) => unread.includes(route));
  }
}
