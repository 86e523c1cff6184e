// The first reading of mailboxes, in the order of their arrival: warm-up and statistics, by which the guard judges, of
// all of them first; then what else was never read.
import type { SweepPart } from '../model/sweep.ts';
import { type MailboxRoute, mailboxRoutes } from './poll.ts';

/** What the guard judges by, in the order in which it is asked for. */
export const judgedRoutes = ['warmup', 'stats'] as const satisfies readonly MailboxRoute[];

export interface SweepPoll {
  readonly route: MailboxRoute;
  readonly slot: number;
}

/** The part of a sweep that reads it. */
export function partOf(route: MailboxRoute): SweepPart {
  return (judgedRoutes as readonly MailboxRoute[]).includes(route) ? 'judging' : 'details';
}

const routesOf: Readonly<Record<SweepPart, readonly MailboxRoute[]>> = {
  judging: judgedRoutes,
  details: mailboxRoutes.filter((route) => partOf(route) === 'details'),
};

function fromTheBeginning(): Record<MailboxRoute, number> {
  return { warmup: 0, stats: 0, mailbox: 0, dns: 0, blacklist: 0 };
}

/** Mailboxes are slots, as everywhere in the queue. Every call costs O(1), spread over the calls. */
export class Sweep {
  /** By slot: what of it is still to be read, in that order. */
  readonly #unread = new Map<number, readonly MailboxRoute[]>();
  /** Slots in the order of their arrival; who left or was read already stays until it comes up. */
  #line: number[] = [];
  /** How far each kind has come in the line. */
  readonly #heads = fromTheBeginning();
  /** Slots whose statistics are wanted sooner. */
  readonly #hastened = new Set<number>();
  #since: number | null = null;
  #polls = 0;

  /** How many polls are left. */
  get polls(): number {
    return this.#polls;
  }

  /** When the first of those who are in it joined; null while nothing is left to be read. */
  get since(): number | null {
    return this.#since;
  }

  join(slot: number, routes: readonly MailboxRoute[], now: number): void {
    if (routes.length === 0) return;
    this.#unread.set(slot, routes);
    this.#polls += routes.length;
    this.#line.push(slot);
    this.#since ??= now;
  }

  leave(slot: number): void {
    this.#polls -= this.#unread.get(slot)?.length ?? 0;
    this.#unread.delete(slot);
    this.#endWhenRead();
  }

  /** The mailbox is to be judged next. False when that kind is none to judge by, or was read already. */
  hasten(slot: number, route: MailboxRoute): boolean {
    if (partOf(route) !== 'judging' || !this.#unread.get(slot)?.includes(route)) return false;
    this.#hastened.add(slot);
    return true;
  }

  /**
   * What is to be read next of a part, of the kinds that may be asked for; null when nothing of them is left. It stays so until
   * it is taken.
   */
  next(part: SweepPart, mayAsk: (route: MailboxRoute) => boolean = () => true): SweepPoll | null {
    const routes = routesOf[part].filter(mayAsk);
    for (const slot of part === 'judging' ? this.#hastened : []) {
      const route = routes.find((one) => this.#isUnread(slot, one));
      if (route) return { route, slot };
      if (!routesOf[part].some((one) => this.#isUnread(slot, one))) this.#hastened.delete(slot);
    }
    const [route] = routes.toSorted((one, other) => this.#headOf(one) - this.#headOf(other));
    const slot = route && this.#line[this.#heads[route]];
    return slot === undefined ? null : { route: route as MailboxRoute, slot };
  }

  /** It is being read, whether or not it was next. */
  taken({ route, slot }: SweepPoll): void {
    const unread = this.#unread.get(slot);
    if (!unread?.includes(route)) return;
    const left = unread.filter((one) => one !== route);
    if (left.length > 0) this.#unread.set(slot, left);
    else this.#unread.delete(slot);
    this.#polls -= 1;
    this.#endWhenRead();
  }

  #isUnread(slot: number, route: MailboxRoute): boolean {
    return this.#unread.get(slot)?.includes(route) === true;
  }

  /** The place in the line of the first whose kind is unread; the line's end without one. */
  #headOf(route: MailboxRoute): number {
    const line = this.#line;
    while (this.#heads[route] < line.length && !this.#isUnread(line[this.#heads[route]] ?? 0, route))
      this.#heads[route] += 1;
    return this.#heads[route];
  }

  #endWhenRead(): void {
    if (this.#polls > 0) return;
    this.#line = [];
    this.#hastened.clear();
    Object.assign(this.#heads, fromTheBeginning());
    this.#since = null;
  }
}
