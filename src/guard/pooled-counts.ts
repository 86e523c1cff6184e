// The counts of many mailboxes, pooled by day: running sums, which an answer changes by the difference that it makes.
import { type Exact, productOf, sumOf } from '../model/exact.ts';
import { Packer, Unpacker } from '../model/packed.ts';
import type { PooledSum } from '../model/pooled.ts';
import { addDays, dateOf, dayOf, type EpochMs, type IsoDate, utcDate } from '../model/time.ts';
import type { LimitedDay } from './limited-days.ts';

/** One of each domain and day. */
interface DaySum {
  readonly sent: Exact;
  readonly bounced: Exact;
  readonly allowed: Exact;
  /** Mailboxes with a row of that date. */
  readonly rows: number;
}

const next = (unpacker: Unpacker) => unpacker.next() ?? 0;
const summed = ({ sent, bounced, allowed }: Omit<DaySum, 'rows'>): PooledSum => ({
  sent: BigInt(sent),
  bounced: BigInt(bounced),
  allowed: BigInt(allowed),
});

export const noCounts: PooledSum = { sent: 0n, bounced: 0n, allowed: 0n };
const noDays: readonly LimitedDay[] = [];
const noDay: DaySum = { sent: 0, bounced: 0, allowed: 0, rows: 0 };

/** How many of something were seen last on which day. */
export class LastDays {
  readonly #count = new Map<IsoDate, number>();

  move(before: IsoDate | null, after: IsoDate | null): void {
    if (before === after) return;
    if (before !== null) this.#add(before, -1);
    if (after !== null) this.#add(after, 1);
  }

  /** How many were seen on this day or later. */
  since(from: IsoDate): number {
    let count = 0;
    for (const [date, of] of this.#count) if (date >= from) count += of;
    return count;
  }

  /** The newest day on which something was seen; null without any. */
  newest(): IsoDate | null {
    return newestOf(this.#count.keys());
  }

  packInto(packer: Packer): void {
    packer.add(this.#count.size);
    for (const [date, count] of this.#count) packer.add(dayOf(date)).add(count);
  }

  unpackFrom(unpacker: Unpacker): void {
    for (let left = next(unpacker); left > 0; left -= 1) this.#count.set(dateOf(next(unpacker)), next(unpacker));
  }

  #add(date: IsoDate, difference: number): void {
    const count = (this.#count.get(date) ?? 0) + difference;
    if (count === 0) this.#count.delete(date);
    else this.#count.set(date, count);
  }
}

export class PooledCounts {
  readonly #days = new Map<IsoDate, DaySum>();
  /** Mailboxes by their newest day with a bounce, and with an email. */
  readonly bouncing = new LastDays();
  readonly sending = new LastDays();

  /** The days of one mailbox become others; both the oldest first, null for none. */
  move(before: readonly LimitedDay[] | null, after: readonly LimitedDay[] | null): void {
    const [was, is] = [before ?? noDays, after ?? noDays];
    let [old, fresh] = [0, 0];
    while (old < was.length || fresh < is.length) {
      const [from, to] = [was[old], is[fresh]];
      const goes = from && (!to || from.date <= to.date) ? from : null;
      const comes = to && (!from || to.date <= from.date) ? to : null;
      if (goes) old += 1;
      if (comes) fresh += 1;
      if (goes && comes && isSame(goes, comes)) continue;
      if (goes) this.#add(goes, -1);
      if (comes) this.#add(comes, 1);
    }
    this.bouncing.move(lastWith(was, 'bounced'), lastWith(is, 'bounced'));
    this.sending.move(lastWith(was, 'sent'), lastWith(is, 'sent'));
  }

  /** The newest date that has rows; null without any. */
  newest(): IsoDate | null {
    return newestOf(this.#days.keys());
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
    for (const [date, day] of this.#days) {
      if (date < from || date > to) continue;
      sent = sumOf(sent, day.sent);
      bounced = sumOf(bounced, day.bounced);
      allowed = sumOf(allowed, day.allowed);
    }
    return summed({ sent, bounced, allowed });
  }

  /** The sum of one date. */
  on(date: IsoDate): PooledSum {
    const day = this.#days.get(date);
    return day ? summed(day) : noCounts;
  }

  /** For while nobody asks: a fleet has thousands of domains. */
  packed(): string {
    const packer = new Packer().add(this.#days.size);
    for (const [date, { sent, bounced, allowed, rows }] of this.#days) {
      packer.add(dayOf(date)).add(rows);
      for (const sum of [sent, bounced, allowed]) packer.addExact(sum);
    }
    this.bouncing.packInto(packer);
    this.sending.packInto(packer);
    return packer.packed();
  }

  static unpacked(text: string): PooledCounts {
    const counts = new PooledCounts();
    const unpacker = new Unpacker(text);
    for (let left = next(unpacker); left > 0; left -= 1) {
      const [date, rows] = [dateOf(next(unpacker)), next(unpacker)];
      const [sent, bounced, allowed] = [unpacker.nextExact(), unpacker.nextExact(), unpacker.nextExact()];
      counts.#days.set(date, { sent, bounced, allowed, rows });
    }
    counts.bouncing.unpackFrom(unpacker);
    counts.sending.unpackFrom(unpacker);
    return counts;
  }

  #add(day: LimitedDay, sign: 1 | -1): void {
    const before = this.#days.get(day.date) ?? noDay;
    const rows = before.rows + sign;
    if (rows === 0) this.#days.delete(day.date);
    else {
      const moved = (sum: Exact, by: Exact) => sumOf(sum, sign === 1 ? by : -by);
      const [sent, bounced] = [moved(before.sent, day.sent), moved(before.bounced, day.bounced)];
      const allowed = moved(before.allowed, productOf(day.limitPpm, day.sent));
      this.#days.set(day.date, { sent, bounced, allowed, rows });
    }
  }
}

/** A running mailbox whose newest row is older than this is stale and not counted; who sends nothing may have no rows. */
const quietDays = 2;

/** The day on which the windows of pooled counts end: the newest that has rows, at most two days ago. null without rows. */
export function lastDayOf(counts: PooledCounts, now: EpochMs): IsoDate | null {
  const newest = counts.newest();
  const earliest = addDays(utcDate(now), -quietDays);
  return newest === null || newest >= earliest ? newest : earliest;
}

export function plus(one: PooledSum, other: PooledSum): PooledSum {
  return {
    sent: one.sent + other.sent,
    bounced: one.bounced + other.bounced,
    allowed: one.allowed + other.allowed,
  };
}

function isSame(one: LimitedDay, other: LimitedDay): boolean {
  return one.sent === other.sent && one.bounced === other.bounced && one.limitPpm === other.limitPpm;
}

function lastWith(days: readonly LimitedDay[], field: 'sent' | 'bounced'): IsoDate | null {
  return days.findLast((day) => day[field] > 0)?.date ?? null;
}

function newestOf(dates: Iterable<IsoDate>): IsoDate | null {
  let newest: IsoDate | null = null;
  for (const date of dates) if (newest === null || date > newest) newest = date;
  return newest;
}
