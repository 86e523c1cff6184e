// The counts of an account's mailboxes, pooled by day: running sums, which an answer changes by the difference that it makes.

import type { PooledSum } from '../breaker.ts';
import { type Exact, sumOf } from '../exact.ts';
import { addDays, type EpochMs, type IsoDate, utcDate } from '../time.ts';
import type { DayChange, MovedDays } from './window.ts';

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
  /** Those with rows, the oldest first. Most changes and questions are about the newest. */
  readonly #days: DaySum[] = [];

  move({ changes }: MovedDays): void {
    for (const change of changes) this.#add(change);
  }

  get isEmpty(): boolean {
    return this.#days.length === 0;
  }

  /** The newest date that has rows; null without any. */
  newest(): IsoDate | null {
    return this.#days.at(-1)?.date ?? null;
  }

  /** Days with rows from one date to another, both included. */
  daysWithRows(from: IsoDate, to: IsoDate): number {
    return this.#countUpTo(to) - this.#days.findLastIndex(({ date }) => date < from) - 1;
  }

  /** The sums from one date to another, both included. */
  sum(from: IsoDate, to: IsoDate): PooledSum {
    let [sent, bounced, allowed]: [Exact, Exact, Exact] = [0, 0, 0];
    for (let index = this.#countUpTo(to) - 1; index >= 0; index -= 1) {
      const day = this.#days[index];
      if (!day || day.date < from) break;
      sent = sumOf(sent, day.sum.sent);
      bounced = sumOf(bounced, day.sum.bounced);
      allowed = sumOf(allowed, day.sum.allowed);
    }
    return { sent, bounced, allowed };
  }

  /** How many days are not after that date. */
  #countUpTo(to: IsoDate): number {
    return this.#days.findLastIndex(({ date }) => date <= to) + 1;
  }

  #add(change: DayChange): void {
    const { date, rows } = change;
    const count = this.#countUpTo(date);
    const known = this.#days[count - 1];
    if (known?.date !== date) {
      this.#days.splice(count, 0, { date, sum: plus(noCounts, change), rows });
      return;
    }
    known.sum = plus(known.sum, change);
    known.rows += rows;
    if (known.rows === 0) this.#days.splice(count - 1, 1);
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
