// When a replica may give work away for balance: the replicas have been the same for a while, and what it gave last was taken.
import type { Scope } from './membership.ts';
import type { Sight } from './roster.ts';

const calmAfterMs = 60_000;
/** When no other replica took what was given, nothing is given for this long. */
const inVainMs = 15 * 60_000;

/** Times are of the monotonic clock. */
export class Balance {
  readonly #calmAfterMs: number;
  /** The replicas that want work, and since when these. */
  #working = { ids: '', since: 0 };
  /** Given away, and not seen at another replica yet. */
  readonly #given = new Set<Scope>();
  #nextAt = Number.NEGATIVE_INFINITY;

  constructor(calmMs = calmAfterMs) {
    this.#calmAfterMs = calmMs;
  }

  seen({ replicas, leases }: Sight, self: string, now: number): void {
    for (const { scope, owner } of leases) if (owner !== null && owner !== self) this.#given.delete(scope);
    const working = replicas.filter(({ wants }) => wants.length > 0);
    const ids = working.map(({ id }) => id).toSorted();
    if (ids.join() === this.#working.ids) return;
    this.#working = { ids: ids.join(), since: now };
    this.#nextAt = Number.NEGATIVE_INFINITY;
  }

  gave(scope: Scope): void {
    this.#given.add(scope);
  }

  took(scope: Scope, now: number): void {
    if (this.#given.delete(scope)) this.#nextAt = now + inVainMs;
  }

  mayGive(now: number): boolean {
    return now >= this.#nextAt && now - this.#working.since >= this.#calmAfterMs;
  }
}
