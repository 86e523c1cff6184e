// The mailboxes of one account, pooled by domain and as a whole. One mailbox's answer changes the sums by its difference.
import type { EpochMs, IsoDate } from '../time.ts';
import { DomainPool, type Move, type Part, Pool } from './pool.ts';
import { PooledCounts } from './pooled-counts.ts';
import { RecentCounts } from './recent-counts.ts';
import { type LimitedDays, limitedDays, type MovedDate, movedDays } from './window.ts';

export class PooledAccount<Of extends Part = Part> {
  readonly #parts = new Map<string, Of>();
  readonly #domains = new Map<string, DomainPool>();
  readonly whole = new Pool(new PooledCounts());
  /** How many domains had their newest bounce on which day. */
  readonly #bouncingDomains = new Map<IsoDate, number>();

  /** undefined when none of its mailboxes is in a pool. */
  domain(name: string, now: EpochMs): DomainPool | undefined {
    const pool = this.#domains.get(name);
    if (pool && !pool.counts.reaches(now)) this.#recount(pool);
    return pool;
  }

  part(id: string): Of | null {
    return this.#parts.get(id) ?? null;
  }

  /** Of all mailboxes, also of those that are in no pool. */
  parts(): Iterable<Of> {
    return this.#parts.values();
  }

  /** Domains with bounces on this day or later. */
  domainsBouncingSince(from: IsoDate): number {
    let count = 0;
    for (const [date, domains] of this.#bouncingDomains) if (date >= from) count += domains;
    return count;
  }

  /** Gives a mailbox its part; null takes it away. */
  put(id: string, part: Of | null): void {
    const [before, after] = [pooled(this.part(id)), pooled(part)];
    if (part) this.#parts.set(id, part);
    else this.#parts.delete(id);
    if (isSame(before, after)) return;
    // Those that it has from now on first: they were made a moment ago, to be looked at.
    const [is, was] = [daysOf(after), daysOf(before)];
    const days = movedDays(was, is);
    this.whole.move({ before, after, days });
    if (before?.domain === after?.domain) this.#moveIn(before?.domain, id, { before, after, days });
    else {
      this.#moveIn(before?.domain, id, { before, after: null, days: movedDays(was, null) });
      this.#moveIn(after?.domain, id, { before: null, after, days: movedDays(null, is) });
    }
  }

  #moveIn(name: string | undefined, id: string, move: Move): void {
    if (name === undefined) return;
    const pool = this.#domains.get(name) ?? new DomainPool(new RecentCounts());
    const bouncedOn = pool.counts.bouncedOn();
    pool.moveOne(id, move);
    this.#bounced({ before: bouncedOn, after: pool.counts.bouncedOn() });
    if (!pool.isEmpty) this.#domains.set(name, pool);
    else this.#domains.delete(name);
  }

  #recount(pool: DomainPool): void {
    const before = pool.counts.bouncedOn();
    pool.counts = new RecentCounts();
    for (const id of pool.ids) pool.counts.move(movedDays(null, daysOf(this.part(id))));
    this.#bounced({ before, after: pool.counts.bouncedOn() });
  }

  /** A domain's newest day with a bounce is another one. */
  #bounced({ before, after }: MovedDate): void {
    if (before === after) return;
    if (before !== null) this.#countBouncing(before, -1);
    if (after !== null) this.#countBouncing(after, 1);
  }

  #countBouncing(date: IsoDate, more: number): void {
    const domains = (this.#bouncingDomains.get(date) ?? 0) + more;
    if (domains > 0) this.#bouncingDomains.set(date, domains);
    else this.#bouncingDomains.delete(date);
  }
}

/** The part of a mailbox that is in pools. */
function pooled(part: Part | null): Part | null {
  return part?.standing ? part : null;
}

/** Whether one in the place of the other moves nothing. */
function isSame(one: Part | null, other: Part | null): boolean {
  return one?.source === other?.source && one?.standing === other?.standing && one?.domain === other?.domain;
}

function daysOf(part: Part | null): LimitedDays | null {
  return part?.standing === 'counted' ? limitedDays(part.source) : null;
}
