// The mailboxes of a domain, or all of an account: how many of them count, and their counts by day.

import type { RecentCounts } from './recent-counts.ts';
import type { DaysSource, MovedDays } from './window.ts';

/** counted: its days are in the sums. unknown: nothing that is current is known of it. pending: not asked yet. A paused mailbox counts. */
export type Standing = 'counted' | 'unknown' | 'pending';

/** What a mailbox brings into the pools. */
export interface Part {
  /** In lower case. */
  readonly domain: string;
  /** null: it is known not to run, and is in no pool. */
  readonly standing: Standing | null;
  /** What its days are made of each time when they are needed: kept, they would take more room than all else of a mailbox. */
  readonly source: DaysSource;
}

/** Counts that follow the days of mailboxes. */
interface Counts {
  readonly move: (moved: MovedDays) => void;
}

/** How a mailbox was in a pool, and how it is; null: not at all. */
export interface Move {
  readonly before: Part | null;
  readonly after: Part | null;
  readonly days: MovedDays;
}

export class Pool<Of extends Counts = Counts> {
  counts: Of;
  readonly #standings: Record<Standing, number> = { counted: 0, unknown: 0, pending: 0 };

  constructor(counts: Of) {
    this.counts = counts;
  }

  of(standing: Standing): number {
    return this.#standings[standing];
  }

  move({ before, after, days }: Move): void {
    if (before?.standing) this.#standings[before.standing] -= 1;
    if (after?.standing) this.#standings[after.standing] += 1;
    this.counts.move(days);
  }
}

/** So many ids are kept in an array of just that size: most domains have a few mailboxes, and a Set takes the room of fifteen. */
const fewIds = 16;

export class DomainPool extends Pool<RecentCounts> {
  #ids: readonly string[] | Set<string> = [];

  /** Of its mailboxes. */
  get ids(): Iterable<string> {
    return this.#ids;
  }

  get isEmpty(): boolean {
    return (this.#ids instanceof Set ? this.#ids.size : this.#ids.length) === 0;
  }

  moveOne(id: string, move: Move): void {
    this.move(move);
    if (!move.before) this.#ids = withId(this.#ids, id);
    if (!move.after) this.#ids = withoutId(this.#ids, id);
  }
}

function withId(ids: readonly string[] | Set<string>, id: string): readonly string[] | Set<string> {
  if (ids instanceof Set) return ids.add(id);
  return ids.length < fewIds ? ids.concat(id) : new Set([...ids, id]);
}

function withoutId(ids: readonly string[] | Set<string>, id: string): readonly string[] | Set<string> {
  if (!(ids instanceof Set)) return ids.filter((one) => one !== id);
  ids.delete(id);
  return ids;
}
