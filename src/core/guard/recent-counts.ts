// The counts of a domain's mailboxes on its newest days. A fleet has thousands of domains, so they take little room.

import type { PooledSum } from '../breaker.ts';
import { type Exact, sumOf } from '../exact.ts';
import { dateOf, dayOf, type EpochMs, type IsoDate } from '../time.ts';
import { lastDayOf } from './pooled-counts.ts';
import type { MovedDate, MovedDays } from './window.ts';

/** A domain is looked at over the last so many days, and each shorter stretch of them. */
export const domainDays = 7;
/** They end at most two days ago, and rows are dated at most a day ahead: unless the clock is set back, nobody looks further back. */
const daysKept = domainDays + 3;

/** What is summed up of a day. bouncing, sending: mailboxes whose newest day with a bounce, or an email, it is. */
const sums = { sent: 0, bounced: 1, allowed: 2, rows: 3, bouncing: 4, sending: 5 } as const;
const sumsADay = Object.keys(sums).length;
type Sum = keyof typeof sums;

/** Days since the epoch take the place of dates here. */
export class RecentCounts {
  /** Day by day, each in the place of the one so many days before it. */
  readonly #sums: Exact[] = Array.from({ length: daysKept * sumsADay }, () => 0);
  /** The newest day that ever had rows. */
  #last = Number.NEGATIVE_INFINITY;
  /** Of all days, also of those that are no longer kept. */
  #rows = 0;

  move({ changes, bouncedOn, sentOn }: MovedDays): void {
    for (const { date, sent, bounced, allowed, rows } of changes) {
      const day = dayOf(date);
      this.#makeRoom(day);
      this.#rows += rows;
      this.#add('sent', day, sent);
      this.#add('bounced', day, bounced);
      this.#add('allowed', day, allowed);
      this.#add('rows', day, rows);
    }
    this.#moveOne('bouncing', bouncedOn);
    this.#moveOne('sending', sentOn);
  }

  get isEmpty(): boolean {
    return this.#rows === 0;
  }

  /** The newest date that has rows; null without any among those that are kept. */
  newest(): IsoDate | null {
    return this.#newestWith('rows');
  }

  /** The newest date with a bounce; null without any among those that are kept. */
  bouncedOn(): IsoDate | null {
    return this.#newestWith('bouncing');
  }

  /** The sums of one date. */
  on(date: IsoDate): PooledSum {
    const day = dayOf(date);
    return { sent: this.#of('sent', day), bounced: this.#of('bounced', day), allowed: this.#of('allowed', day) };
  }

  /** How many mailboxes bounced, or sent, on this day or later. */
  since(from: IsoDate, what: 'bouncing' | 'sending'): number {
    let count = 0;
    for (let day = dayOf(from); day <= this.#last; day += 1) count += Number(this.#of(what, day));
    return count;
  }

  /** Whether the days are kept that are to be looked at: not after the clock was set back and the newest days went. */
  reaches(now: EpochMs): boolean {
    const to = lastDayOf(this, now);
    return to === null || this.#isKept(dayOf(to) + 1 - domainDays);
  }

  #isKept(day: number): boolean {
    return day > this.#last - daysKept;
  }

  /** A newer day than any before takes the place of an old one. */
  #makeRoom(day: number): void {
    if (day <= this.#last) return;
    const from = Math.max(this.#last + 1, day + 1 - daysKept);
    for (let next = from; next <= day; next += 1) {
      const at = (next % daysKept) * sumsADay;
      this.#sums.fill(0, at, at + sumsADay);
    }
    this.#last = day;
  }

  #moveOne(what: Sum, { before, after }: MovedDate): void {
    if (before === after) return;
    if (before !== null) this.#add(what, dayOf(before), -1);
    if (after !== null) this.#add(what, dayOf(after), 1);
  }

  #newestWith(what: Sum): IsoDate | null {
    for (let day = this.#last; this.#isKept(day); day -= 1) if (this.#of(what, day) > 0) return dateOf(day);
    return null;
  }

  #of(what: Sum, day: number): Exact {
    return this.#isKept(day) && day <= this.#last ? (this.#sums[placeOf(what, day)] ?? 0) : 0;
  }

  #add(what: Sum, day: number, by: Exact): void {
    if (this.#isKept(day)) this.#sums[placeOf(what, day)] = sumOf(this.#of(what, day), by);
  }
}

const placeOf = (what: Sum, day: number) => (day % daysKept) * sumsADay + sums[what];
