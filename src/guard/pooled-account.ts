// The mailboxes of one account, pooled by domain and as a whole. One mailbox's answer changes the sums by its difference.
import type { IsoDate } from '../model/time.ts';
import type { LimitedDay } from './limited-days.ts';
import { type MovedDays, type Part, Pool, Pools } from './pool.ts';
import { LastDays } from './pooled-counts.ts';

export class PooledAccount {
  readonly #parts = new Map<string, Part>();
  readonly #domains = new Pools();
  readonly whole = new Pool();
  /** Domains by their newest day with a bounce. */
  readonly #bouncingDomains = new LastDays();

  /** Valid until another is asked for; undefined when none of its mailboxes has a part. */
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
    // Those that it has from now on first: they were made a moment ago, to be looked at.
    const days = { after: daysOf(after), before: daysOf(before) };
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
    const pool = this.#domains.open(name);
    const bouncedOn = pool.bouncedOn;
    pool.move(id, moved.before, moved.after, moved.days);
    this.#bouncingDomains.move(bouncedOn, pool.bouncedOn);
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
