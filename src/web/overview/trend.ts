// The fleet per day: emails sent and bounced, number of actions, and number of held mailboxes. The sums are cached for
// a minute.
import { dailyRows } from '../../core/daily-counts.ts';
import type { HeldSpan } from '../../core/decision.ts';
import type { Fleet } from '../../core/fleet/fleet.ts';
import { mailboxKey } from '../../core/mailbox.ts';
import { addDays, dayMs, type EpochMs, type IsoDate, minuteMs, utcDate } from '../../core/time.ts';
import type { World } from '../../world/world.ts';

export interface TrendDay {
  readonly date: IsoDate;
  readonly sent: number;
  readonly bounced: number;
  /** Confirmed actions of the guard that were planned on this day (UTC). */
  readonly acted: number;
  /** Number of mailboxes that were held at any time of this day (UTC). */
  readonly held: number;
}

const daysShown = 30;
/** Longest age of the cached sums, which change little within a minute. */
const freshMs = minuteMs;

interface FleetTrendParts {
  readonly fleet: Fleet;
  readonly world: World;
  readonly days: DaySource;
}

/** Data that only the store has. */
interface DaySource {
  /** Days since a moment with actions of Warmwarden; `day` counts from 1970. */
  acted(since: EpochMs): Promise<readonly { readonly day: number; readonly count: number }[]>;
  held(since: EpochMs): Promise<readonly HeldSpan[]>;
}

export class FleetTrend {
  readonly #parts: FleetTrendParts;
  #days: Promise<readonly TrendDay[]> = Promise.resolve([]);
  #summedAt: EpochMs | null = null;

  constructor(parts: FleetTrendParts) {
    this.#parts = parts;
  }

  read(): Promise<readonly TrendDay[]> {
    const now = this.#parts.world.clock.now();
    const isFresh = this.#summedAt !== null && now - this.#summedAt < freshMs && now >= this.#summedAt;
    if (!isFresh) [this.#days, this.#summedAt] = [this.#sum(now), now];
    return this.#days;
  }

  async #sum(now: EpochMs): Promise<readonly TrendDay[]> {
    const { fleet } = this.#parts;
    const first = addDays(utcDate(now), 1 - daysShown);
    const sums = new Map<IsoDate, { sent: number; bounced: number }>();
    for (const { stats } of fleet.mailboxes()) {
      for (const { date, sent, bounced } of dailyRows(stats?.answer, now)) {
        if (date < first) continue;
        const sum = sums.get(date) ?? { sent: 0, bounced: 0 };
        sum.sent += Math.max(0, sent ?? 0);
        sum.bounced += Math.max(0, bounced ?? 0);
        sums.set(date, sum);
      }
    }
    const [acted, held] = [await this.#acted(first), await this.#held(first, now)];
    if (sums.size === 0) return [];
    return Array.from({ length: daysShown }, (_, index) => {
      const date = addDays(first, index);
      const sum = sums.get(date) ?? { sent: 0, bounced: 0 };
      return { date, ...sum, acted: acted.get(date) ?? 0, held: held.get(date)?.size ?? 0 };
    });
  }

  async #acted(first: IsoDate): Promise<ReadonlyMap<IsoDate, number>> {
    const acted = new Map<IsoDate, number>();
    await this.#reading(async (days) => {
      for (const { day, count } of await days.acted(Date.parse(first))) acted.set(utcDate(day * dayMs), count);
    });
    return acted;
  }

  async #held(first: IsoDate, now: EpochMs): Promise<ReadonlyMap<IsoDate, ReadonlySet<string>>> {
    const held = new Map<IsoDate, Set<string>>();
    const begin = Date.parse(first);
    await this.#reading(async (days) => {
      for (const { account, id, since, until } of await days.held(begin)) {
        const last = utcDate(Math.min(until, now));
        for (let date = utcDate(Math.max(since, begin)); date <= last; date = addDays(date, 1)) {
          const mailboxes = held.get(date) ?? new Set();
          held.set(date, mailboxes.add(mailboxKey(account, id)));
        }
      }
    });
    return held;
  }

  /** Reads from the store, and skips the data if the read fails: the page must work during an outage of the store. */
  async #reading(read: (days: DaySource) => Promise<void>): Promise<void> {
    try {
      await read(this.#parts.days);
    } catch (error) {
      this.#parts.world.log.error({ err: error }, 'history could not be read for a page');
    }
  }
}
