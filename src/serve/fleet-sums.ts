// What all mailboxes add up to, place by place in the ranking: where one changed, nobody asks the others.
import type { EpochMs } from '../model/time.ts';
import { noCounts, type RankedMailbox } from '../overview/fleet-view.ts';
import type { States } from '../overview/state-sentence.ts';
import type { KnownFleet } from '../page/fleet-page.ts';

export interface FleetTotals extends KnownFleet, States {
  readonly providers: ReadonlySet<string>;
}

export class FleetSums {
  #counts = noCounts();
  #heldByBreaker = 0;
  #heldUnenforced = 0;
  #awaitingIn = new Map<string, number>();
  #okIn = new Map<string, number>();
  /** How many mailboxes each has. */
  #providers = new Map<string, number>();
  #firstSeenAt: EpochMs[] = [];
  /** Infinity: never read. */
  #statsAt: EpochMs[] = [];

  /** A copy, which changes by itself. */
  copy(): FleetSums {
    const copy = new FleetSums();
    copy.#counts = { ...this.#counts };
    copy.#heldByBreaker = this.#heldByBreaker;
    copy.#heldUnenforced = this.#heldUnenforced;
    copy.#awaitingIn = new Map(this.#awaitingIn);
    copy.#okIn = new Map(this.#okIn);
    copy.#providers = new Map(this.#providers);
    copy.#firstSeenAt = this.#firstSeenAt.slice();
    copy.#statsAt = this.#statsAt.slice();
    return copy;
  }

  /** Places are filled from the first on, and emptied only at the end. */
  replace(place: number, before: RankedMailbox | undefined, now: RankedMailbox | undefined): void {
    if (before) this.#count(before, -1);
    if (now) {
      this.#count(now, 1);
      this.#firstSeenAt[place] = now.mailbox.firstSeenAt;
      this.#statsAt[place] = now.mailbox.stats?.at ?? Number.POSITIVE_INFINITY;
    } else {
      this.#firstSeenAt.length = Math.min(place, this.#firstSeenAt.length);
      this.#statsAt.length = this.#firstSeenAt.length;
    }
  }

  totals(): FleetTotals {
    const [firstSeenAt, oldestStatsAt] = [least(this.#firstSeenAt), least(this.#statsAt)];
    const unread = this.#statsAt.reduce((count, at) => (Number.isFinite(at) ? count : count + 1), 0);
    return {
      counts: { ...this.#counts },
      heldByBreaker: this.#heldByBreaker,
      heldUnenforced: this.#heldUnenforced,
      awaitingIn: new Map(this.#awaitingIn),
      okIn: new Map(this.#okIn),
      providers: new Set(this.#providers.keys()),
      firstSeenAt,
      oldestStatsAt,
      unread,
    };
  }

  #count({ state, enforced, mailbox }: RankedMailbox, more: 1 | -1): void {
    this.#counts[state] += more;
    const verdict = mailbox.verdict?.answer;
    if (state === 'ok') add(this.#okIn, mailbox.account, more);
    if (state === 'held') {
      if (verdict?.reason === 'circuit_breaker') this.#heldByBreaker += more;
      else if (verdict?.action !== 'hold' && !enforced) this.#heldUnenforced += more;
      else if (verdict?.action !== 'hold') add(this.#awaitingIn, mailbox.account, more);
    }
    const { provider } = mailbox.entry.answer;
    if (provider !== null) add(this.#providers, provider, more);
  }
}

/** Of what none is left, nothing is kept. */
function add(counts: Map<string, number>, name: string, more: 1 | -1): void {
  const count = (counts.get(name) ?? 0) + more;
  if (count > 0) counts.set(name, count);
  else counts.delete(name);
}

/** null: there is none. */
function least(moments: readonly EpochMs[]): EpochMs | null {
  const first = moments.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  return Number.isFinite(first) ? first : null;
}
