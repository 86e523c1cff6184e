// The counts of an account's mailboxes, pooled by day: running sums, which an answer changes by the difference that it makes.
import { type Exact, sumOf } from '../model/exact.ts';
import type { PooledSum } from '../model/pooled.ts';
import { addDays, type EpochMs, type IsoDate, utcDate } from '../model/time.ts';
import type { DayChange, MovedDays } from './moved-days.ts';

export const noCounts: PooledSum = { sent: 0, bounced: 0, allowed: 0 };

export function plus(one: PooledSum, other: PooledSum): PooledSum {
  return {
    sent: sumOf(one.sent, other.sent),
    bounced: sumOf(one.bounced, other.bounced),
    allowed: sumOf(one.allowed, other.allowed),
  };
}

interface DaySum {
  readonly date: IsoDate;
  sum: PooledSum;
  /** Mailboxes with a row of that date. */
  rows: number;
}

export class PooledCounts {
  readonly #days = new Map<IsoDate, DaySum>();

  move({ changes }: MovedDays): void {
    for (const change of changes) this.#add(change);
  }

  get isEmpty(): boolean {
    return this.#days.size === 0;
  }

  /** The newest date that has rows; null without any. */
  newest(): IsoDate | null {
    let newest: IsoDate | null = null;
    for (const date of this.#days.keys()) if (newest === null || date > newest) newest = date;
    return newest;
  }

  /** Days with rows from one date to another, both included. */
  daysWithRows(from: IsoDate, to: IsoDate): number {
    let count = 0;
    for (const date of this.#days.keys()) if (date >= from && date <= to) count += 1;
    return count;
  }

  /** The sums from one date to another, both included. */
  sum(from: IsoDate, to: IsoDate): PooledSum {
    let [sent, bounced, allowed]: [Exact, Exact, Exact] = [0, 0, 0];
    for (const { date, sum } of this.#days.values()) {
      if (date < from || date > to) continue;
      sent = sumOf(sent, sum.sent);
      bounced = sumOf(bounced, sum.bounced);
      allowed = sumOf(allowed, sum.allowed);
    }
    return { sent, bounced, allowed };
  }

  #add(change: DayChange): void {
    const { date, rows } = change;
    const day = this.#days.get(date) ?? { date, sum: noCounts, rows: 0 };
    day.sum = plus(day.sum, change);
    day.rows += rows;
    if (day.rows === 0) this.#days.delete(date);
    else this.#days.set(date, day);
  }
}

/** A running mailbox whose newest row is older than this is stale and not counted; who sends nothing may have no rows. */
const quietDays = 2;

/** The day on which the windows of pooled counts end: the newest that has rows, at most two days ago. null without rows. */
export function lastDayOf(
  counts: { readonly isEmpty: boolean; readonly newest: () => IsoDate | null },
  now: EpochMs,
): IsoDate | null {
  if (counts.isEmpty) return null;
  const [newest, earliest] = [counts.newest(), addDays(utcDate(now), -quietDays)];
  return newest !== null && newest >= earliest ? newest : earliest;
}
