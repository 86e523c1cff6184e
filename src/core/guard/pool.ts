// The counts of several mailboxes pooled by day: those of a domain, and all of an account. Made anew for each look. Pure.
import type { PooledSum } from '../breaker.ts';
import { addDays, type EpochMs, type IsoDate, utcDate } from '../time.ts';
import type { CountedDay, LimitedDays } from './window.ts';

/** counted: its days are in the sums. unknown: nothing that is current is known of it. pending: not asked yet. A paused mailbox counts. */
export type Standing = 'counted' | 'unknown' | 'pending';

/** Contribution of a mailbox to its pools. */
export interface Part {
  /** Domain in lower case. */
  readonly domain: string;
  readonly standing: Standing;
  /** Days of a mailbox that counts; null for any other. */
  readonly days: LimitedDays | null;
}

interface DaySum {
  sent: number;
  bounced: number;
  allowed: number;
}

export class Pool<Of extends Part = Part> {
  readonly parts: Of[] = [];
  readonly #days = new Map<IsoDate, DaySum>();
  readonly #standings: Record<Standing, number> = { counted: 0, unknown: 0, pending: 0 };
  /** The newest day with a bounce, and with an email, of each mailbox that has one. */
  readonly #newest: Readonly<Record<'bounced' | 'sent', IsoDate[]>> = { bounced: [], sent: [] };

  add(part: Of): void {
    this.parts.push(part);
    this.#standings[part.standing] += 1;
    const { days, limitOn } = part.days ?? { days: [], limitOn: () => 0 };
    for (const day of days) this.#addDay(day, limitOn(day.date));
    for (const what of ['bounced', 'sent'] as const) {
      const newest = days.findLast((day) => day[what] > 0);
      if (newest) this.#newest[what].push(newest.date);
    }
  }

  /** Number of mailboxes with that standing. */
  of(standing: Standing): number {
    return this.#standings[standing];
  }

  /** Number of days with rows from one date to another, both included. */
  daysWithRows(from: IsoDate, to: IsoDate): number {
    return [...this.#days.keys()].filter((date) => date >= from && date <= to).length;
  }

  /** Sums from one date to another, both included. */
  sum(from: IsoDate, to: IsoDate): PooledSum {
    const sum: DaySum = { sent: 0, bounced: 0, allowed: 0 };
    for (const [date, day] of this.#days) if (date >= from && date <= to) addTo(sum, day);
    return sum;
  }

  /** The newest day with a bounce; null without any. */
  bouncedOn(): IsoDate | null {
    return newestOf(this.#newest.bounced);
  }

  /** Number of mailboxes that bounced, or sent, on this day or later. */
  since(from: IsoDate, what: 'bounced' | 'sent'): number {
    return this.#newest[what].filter((date) => date >= from).length;
  }

  /** The day on which the windows end: the newest with rows, at most two days ago; null without rows. */
  lastDay(now: EpochMs): IsoDate | null {
    const newest = newestOf([...this.#days.keys()]);
    const earliest = addDays(utcDate(now), -quietDays);
    return newest !== null && newest < earliest ? earliest : newest;
  }

  #addDay({ date, sent, bounced }: CountedDay, limitPpm: number): void {
    const sum = this.#days.get(date) ?? { sent: 0, bounced: 0, allowed: 0 };
    addTo(sum, { sent, bounced, allowed: limitPpm * sent });
    this.#days.set(date, sum);
  }
}

/** A running mailbox whose newest row is older than this is stale and not counted; one that sends nothing may have no rows. */
const quietDays = 2;

function addTo(sum: DaySum, { sent, bounced, allowed }: PooledSum): void {
  sum.sent += sent;
  sum.bounced += bounced;
  sum.allowed += allowed;
}

function newestOf(dates: readonly IsoDate[]): IsoDate | null {
  return dates.reduce<IsoDate | null>((newest, date) => (newest === null || date > newest ? date : newest), null);
}

/** The mailboxes of an account, as a whole and by domain. */
export interface Pools<Of extends Part = Part> {
  readonly whole: Pool<Of>;
  readonly domains: ReadonlyMap<string, Pool<Of>>;
}

export function poolsOf<Of extends Part>(parts: Iterable<Of>): Pools<Of> {
  const whole = new Pool<Of>();
  const domains = new Map<string, Pool<Of>>();
  for (const part of parts) {
    whole.add(part);
    const domain = domains.get(part.domain) ?? new Pool<Of>();
    domains.set(part.domain, domain);
    domain.add(part);
  }
  return { whole, domains };
}
