// What all mailboxes add up to, place by place in the ranking: where one changed, nobody asks the others.

import { dailyRows } from '../../core/daily-counts.ts';
import type { HeldSpan } from '../../core/decision.ts';
import type { Fleet } from '../../core/fleet/fleet.ts';
import { mailboxKey } from '../../core/mailbox.ts';
import { addDays, dayMs, type EpochMs, type IsoDate, minuteMs, utcDate } from '../../core/time.ts';
import { createPacer, type World } from '../../world/world.ts';
import { noCounts, type RankedMailbox } from './fleet-view.ts';
import type { States } from './state-sentence.ts';

/** How long the fleet is known, and how old what is known of it is. */
export interface KnownFleet {
  readonly firstSeenAt: EpochMs | null;
  readonly oldestStatsAt: EpochMs | null;
  /** Mailboxes whose stats were never read. */
  readonly unread: number;
}

export interface TrendDay {
  readonly date: IsoDate;
  readonly sent: number;
  readonly bounced: number;
  /** Confirmed actions of the guard that were planned on this day (UTC). */
  readonly acted: number;
  /** Mailboxes that were held at any time of this day (UTC). */
  readonly held: number;
}

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

// What the whole fleet sent and bounced a day, how often Warmwarden acted, and what it held: summed now and then, for all who look.

const daysShown = 30;
/** Days are not over in a minute: sums may be as old. */
const freshMs = minuteMs;
/** Ten thousand mailboxes are summed in slices of this. */
const sliceMs = 4;

interface FleetTrendParts {
  readonly fleet: Fleet;
  readonly world: World;
  readonly days: DaySource;
}

/** What only the store knows. */
interface DaySource {
  /** Days since a moment on which Warmwarden acted; `day` counts from 1970. */
  acted(since: EpochMs): Promise<readonly { readonly day: number; readonly count: number }[]>;
  held(since: EpochMs): AsyncIterable<readonly HeldSpan[]>;
}

export class FleetTrend {
  readonly #parts: FleetTrendParts;
  #days: readonly TrendDay[] = [];
  #summedAt: EpochMs | null = null;
  #summing: Promise<void> | null = null;

  constructor(parts: FleetTrendParts) {
    this.#parts = parts;
  }

  /** The oldest day first; empty when nothing is known, or the store does not answer. */
  async read(): Promise<readonly TrendDay[]> {
    const now = this.#parts.world.clock.now();
    const isFresh = this.#summedAt !== null && now - this.#summedAt < freshMs && now >= this.#summedAt;
    if (isFresh) return this.#days;
    this.#summing ??= this.#sum(now).finally(() => {
      this.#summing = null;
    });
    await this.#summing;
    return this.#days;
  }

  async #sum(now: EpochMs): Promise<void> {
    const { fleet } = this.#parts;
    const first = addDays(utcDate(now), 1 - daysShown);
    const sums = new Map<IsoDate, { sent: number; bounced: number }>();
    const pacer = createPacer(sliceMs);
    for (const { stats } of [...fleet.mailboxes()]) {
      if (pacer.due()) await pacer.turn();
      for (const { date, sent, bounced } of dailyRows(stats?.answer, now)) {
        if (date < first) continue;
        const sum = sums.get(date) ?? { sent: 0, bounced: 0 };
        sum.sent += Math.max(0, sent ?? 0);
        sum.bounced += Math.max(0, bounced ?? 0);
        sums.set(date, sum);
      }
    }
    const [acted, held] = [await this.#acted(first), await this.#held(first, now)];
    const dates = Array.from({ length: daysShown }, (_, back) => addDays(first, back));
    const none = { sent: 0, bounced: 0 };
    this.#days =
      sums.size === 0
        ? []
        : dates.map((date) => ({
            ...{ date, ...(sums.get(date) ?? none) },
            ...{ acted: acted.get(date) ?? 0, held: held.get(date)?.size ?? 0 },
          }));
    this.#summedAt = now;
  }

  async #acted(first: IsoDate): Promise<ReadonlyMap<IsoDate, number>> {
    const acted = new Map<IsoDate, number>();
    await this.#reading(async (days) => {
      for (const { day, count } of await days.acted(Date.parse(first))) acted.set(utcDate(day * dayMs), count);
    });
    return acted;
  }

  /** The mailboxes that were held at any time of a day. */
  async #held(first: IsoDate, now: EpochMs): Promise<ReadonlyMap<IsoDate, ReadonlySet<string>>> {
    const held = new Map<IsoDate, Set<string>>();
    const begin = Date.parse(first);
    await this.#reading(async (days) => {
      for await (const spans of days.held(begin)) {
        for (const { account, id, since, until } of spans) {
          const last = utcDate(Math.min(until, now));
          for (let date = utcDate(Math.max(since, begin)); date <= last; date = addDays(date, 1)) {
            const mailboxes = held.get(date) ?? new Set();
            held.set(date, mailboxes.add(mailboxKey(account, id)));
          }
        }
      }
    });
    return held;
  }

  /** What the store does not tell is left out: a page at 3 a.m. must stand although it does not answer. */
  async #reading(read: (days: DaySource) => Promise<void>): Promise<void> {
    try {
      await read(this.#parts.days);
    } catch (error) {
      this.#parts.world.log.error({ err: error }, 'history could not be read for a page');
    }
  }
}
