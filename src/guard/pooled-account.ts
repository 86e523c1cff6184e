// The mailboxes of one account, pooled by domain and as a whole. One mailbox's answer changes the sums by its difference.
import type { IsoDate } from '../model/time.ts';
import type { LimitedDay } from './limited-days.ts';
import { LastDays, PooledCounts } from './pooled-counts.ts';

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

/** The mailboxes of a domain, or all of an account. */
export class Pool {
  readonly counts = new PooledCounts();
  readonly #standings: Record<Standing, number> = { counted: 0, unknown: 0, pending: 0 };
  /** By id. */
  readonly ids = new Set<string>();

  of(standing: Standing): number {
    return this.#standings[standing];
  }

  move(id: string, before: Part | null, after: Part | null, days: MovedDays): void {
    if (before) this.#standings[before.standing] -= 1;
    if (after) this.#standings[after.standing] += 1;
    if (after) this.ids.add(id);
    else this.ids.delete(id);
    this.counts.move(days.before, days.after);
  }
}

interface MovedDays {
  readonly before: readonly LimitedDay[] | null;
  readonly after: readonly LimitedDay[] | null;
}

export class PooledAccount {
  readonly #parts = new Map<string, Part>();
  readonly #domains = new Map<string, Pool>();
  readonly whole = new Pool();
  /** Domains by their newest day with a bounce. */
  readonly #bouncingDomains = new LastDays();

  /** undefined when none of its mailboxes has a part. */
  domain(name: string): Pool | undefined {
    return this.#domains.get(name);
  }

  part(id: string): Part | null {
    return this.#parts.get(id) ?? null;
  }

  /** Domains with bounces on this day or later. */
  domainsBouncingSince(from: IsoDate): number {
    return this.#bouncingDomains.since(from);
  }

  /** Gives a mailbox its part; null takes it away. */
  put(id: string, after: Part | null): void {
    const before = this.part(id);
    if (before === after) return;
    const days = { before: daysOf(before), after: daysOf(after) };
    this.whole.move(id, before, after, days);
    if (before?.domain === after?.domain) this.#moveIn(before?.domain, id, { before, after, days });
    else {
      this.#moveIn(before?.domain, id, { before, after: null, days: { before: days.before, after: null } });
      this.#moveIn(after?.domain, id, { before: null, after, days: { before: null, after: days.after } });
    }
    if (after) this.#parts.set(id, after);
    else this.#parts.delete(id);
  }

  #moveIn(name: string | undefined, id: string, moved: Moved): void {
    if (name === undefined) return;
    const pool = this.#domains.get(name) ?? new Pool();
    if (moved.days.before === null && moved.days.after === null) pool.move(id, moved.before, moved.after, moved.days);
    else {
      const bounced = pool.counts.bouncing.newest();
      pool.move(id, moved.before, moved.after, moved.days);
      this.#bouncingDomains.move(bounced, pool.counts.bouncing.newest());
    }
    if (pool.ids.size === 0) this.#domains.delete(name);
    else this.#domains.set(name, pool);
  }
}

interface Moved {
  readonly before: Part | null;
  readonly after: Part | null;
  readonly days: MovedDays;
}

function daysOf(part: Part | null): readonly LimitedDay[] | null {
  return part?.standing === 'counted' ? part.days() : null;
}
