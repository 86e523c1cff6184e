// The mailboxes of a domain, or all of an account: how many of them count, and their counts by day.
import type { LimitedDays } from './limited-days.ts';
import type { MovedDays } from './moved-days.ts';
import type { RecentCounts } from './recent-counts.ts';

/**
 * counted: its days are in the sums. unknown: nothing that is current is known of it. pending: not asked yet. A mailbox
 * that is known not to run has no part at all; a paused one counts.
 */
export type Standing = 'counted' | 'unknown' | 'pending';

/** What a mailbox brings into the pools. */
export interface Part {
  /** In lower case. */
  readonly domain: string;
  readonly standing: Standing;
  /** Asked only where it is counted, and again when the part goes: always the same days. */
  readonly days: () => LimitedDays | null;
}

/** Counts that follow the days of mailboxes. */
interface Counts {
  readonly move: (moved: MovedDays) => void;
}

export class Pool<Of extends Counts = Counts> {
  counts: Of;
  readonly #standings: Record<Standing, number> = { counted: 0, unknown: 0, pending: 0 };
  /** By id. */
  readonly ids = new Set<string>();

  constructor(counts: Of) {
    this.counts = counts;
  }

  of(standing: Standing): number {
    return this.#standings[standing];
  }

  move(id: string, before: Part | null, after: Part | null, days: MovedDays): void {
    if (before) this.#standings[before.standing] -= 1;
    if (after) this.#standings[after.standing] += 1;
    if (after) this.ids.add(id);
    else this.ids.delete(id);
    this.counts.move(days);
  }
}

export type DomainPool = Pool<RecentCounts>;
