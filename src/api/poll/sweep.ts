// The first reading of mailboxes, in the order of their arrival: warm-up and statistics, by which the guard judges, of
// all of them first; then what else was never read.
import type { SweepPart } from '../../core/mailbox.ts';
import { type MailboxRoute, mailboxRoutes } from './poll.ts';

/** What the guard judges by, in the order in which it is asked for. */
export const judgedRoutes = ['warmup', 'stats'] as const satisfies readonly MailboxRoute[];

export interface SweepPoll {
  readonly route: MailboxRoute;
  readonly mailboxId: string;
}

/** The part of a sweep that reads it. */
export function partOf(route: MailboxRoute): SweepPart {
  return (judgedRoutes as readonly MailboxRoute[]).includes(route) ? 'judging' : 'details';
}

const routesOf: Readonly<Record<SweepPart, readonly MailboxRoute[]>> = {
  judging: judgedRoutes,
  details: mailboxRoutes.filter((route) => partOf(route) === 'details'),
};

/** Every mailbox that was never read, or not all of it. */
export class Sweep {
  /** What of each is still to be read, in that order; mailboxes in the order of their arrival. */
  readonly #unread = new Map<string, readonly MailboxRoute[]>();
  /** Mailboxes that are to be judged sooner. */
  readonly #hastened = new Set<string>();
  #since: number | null = null;

  /** How many polls are left. */
  get polls(): number {
    return [...this.#unread.values()].reduce((sum, { length }) => sum + length, 0);
  }

  /** When the first of those who are in it joined; null while nothing is left to be read. */
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

  /** The mailbox is to be judged next. False when that kind is none to judge by, or was read already. */
  hasten(mailboxId: string, route: MailboxRoute): boolean {
    if (partOf(route) !== 'judging' || !this.#unread.get(mailboxId)?.includes(route)) return false;
    this.#hastened.add(mailboxId);
    return true;
  }

  /** Next poll of a part, of the kinds that may be asked for, or null when none of them is left. Does not remove it. */
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

  /** It is being read, whether or not it was next. */
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
