// The fleet per day: emails sent and bounced, actions, and held mailboxes. The sums are cached for a minute.
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
  readonly acted: number;
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
    const begin = Date.parse(first);
    const acted = await this.#read((days) => days.acted(begin));
    const held = await this.#read((days) => days.held(begin));
    if (sums.size === 0) return [];
    return Array.from({ length: daysShown }, (_, index) => {
      const at = begin + index * dayMs;
      const heldThen = held.filter(({ since, until }) => since < at + dayMs && until >= at);
      return {
        date: utcDate(at),
        ...(sums.get(utcDate(at)) ?? { sent: 0, bounced: 0 }),
        acted: acted.find(({ day }) => day === at / dayMs)?.count ?? 0,
        held: new Set(heldThen.map(({ account, id }) => mailboxKey(account, id))).size,
      };
    });
  }

  /** Reads from the store, or returns nothing if that fails: the page must work during an outage of the store. */
  async #read<Row>(read: (days: DaySource) => Promise<readonly Row[]>): Promise<readonly Row[]> {
    try {
      return await read(this.#parts.days);
    } catch (error) {
      this.#parts.world.log.error({ err: error }, 'history could not be read for a page');
      return [];
    }
  }
}
