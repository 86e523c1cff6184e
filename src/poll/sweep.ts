// The first reading of mailboxes, in the order of their arrival: warm-up and statistics, by which the guard judges, of
// all of them first; then what else was never read.
import type { SweepPart } from '../model/sweep.ts';
import type { MailboxRoute } from './poll.ts';

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

/** Mailboxes are slots, as everywhere in the queue. Every call costs O(1), spread over the calls. */
export class Sweep {
  /** By slot: what of it is still to be read, in that order. */
  readonly #unread = new Map<number, readonly MailboxRoute[]>();
  /** Slots in the order of their arrival; who left or was read already stays until it comes up. */
  #line: number[] = [];
  /** How far each part has come in the line. */
  readonly #heads: Record<SweepPart, number> = { judging: 0, details: 0 };
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

  /** What is to be read next of a part; null when nothing of it is left. It stays so until it is taken. */
  next(part: SweepPart): SweepPoll | null {
    for (const slot of part === 'judging' ? this.#hastened : []) {
      const route = this.#firstOf(slot, part);
      if (route) return { route, slot };
      this.#hastened.delete(slot);
    }
    for (; this.#heads[part] < this.#line.length; this.#heads[part] += 1) {
      const slot = this.#line[this.#heads[part]] ?? 0;
      const route = this.#firstOf(slot, part);
      if (route) return { route, slot };
    }
    return null;
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

  #firstOf(slot: number, part: SweepPart): MailboxRoute | undefined {
    return this.#unread.get(slot)?.find((route) => partOf(route) === part);
  }

  #endWhenRead(): void {
    if (this.#polls > 0) return;
    this.#line = [];
    this.#hastened.clear();
    this.#heads.judging = 0;
    this.#heads.details = 0;
    this.#since = null;
  }
}
