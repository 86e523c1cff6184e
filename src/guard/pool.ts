// The mailboxes of a domain, or all of an account: how many of them count, and their counts by day.
import type { IsoDate } from '../model/time.ts';
import type { LimitedDay } from './limited-days.ts';
import { PooledCounts } from './pooled-counts.ts';

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
  /** The oldest first; asked only where it is counted, and again when the part goes: always the same days. */
  readonly days: () => readonly LimitedDay[];
}

export interface MovedDays {
  readonly before: readonly LimitedDay[] | null;
  readonly after: readonly LimitedDay[] | null;
}

export class Pool {
  readonly counts: PooledCounts;
  readonly #standings: Record<Standing, number>;
  /** By id. */
  readonly ids: Set<string>;

  constructor({ counts, standings, ids }: PackedPool = emptyPool) {
    this.counts = PooledCounts.unpacked(counts);
    this.#standings = { ...standings };
    this.ids = new Set(ids);
  }

  of(standing: Standing): number {
    return this.#standings[standing];
  }

  /** The newest day with a bounce; null without any. */
  get bouncedOn(): IsoDate | null {
    return this.counts.bouncing.newest();
  }

  move(id: string, before: Part | null, after: Part | null, days: MovedDays): void {
    if (before) this.#standings[before.standing] -= 1;
    if (after) this.#standings[after.standing] += 1;
    if (after) this.ids.add(id);
    else this.ids.delete(id);
    this.counts.move(days.before, days.after);
  }

  packed(): PackedPool {
    return { counts: this.counts.packed(), standings: this.#standings, ids: [...this.ids] };
  }
}

interface PackedPool {
  readonly counts: string;
  readonly standings: Readonly<Record<Standing, number>>;
  readonly ids: readonly string[];
}

const emptyPool: PackedPool = {
  counts: new PooledCounts().packed(),
  standings: { counted: 0, unknown: 0, pending: 0 },
  ids: [],
};

/** Pools by name. There may be thousands, of which one is asked for now and then: all but the last one are packed. */
export class Pools {
  readonly #packed = new Map<string, PackedPool>();
  #open: { readonly name: string; readonly pool: Pool } | null = null;

  /** Valid until the next one is asked for. undefined: it would have no mailbox. */
  get(name: string): Pool | undefined {
    const pool = this.open(name);
    return pool.ids.size > 0 ? pool : undefined;
  }

  /** The same, also for the first mailbox. */
  open(name: string): Pool {
    if (this.#open?.name === name) return this.#open.pool;
    this.#close();
    const pool = new Pool(this.#packed.get(name));
    this.#open = { name, pool };
    return pool;
  }

  #close(): void {
    if (!this.#open) return;
    const { name, pool } = this.#open;
    if (pool.ids.size === 0) this.#packed.delete(name);
    else this.#packed.set(name, pool.packed());
  }
}
