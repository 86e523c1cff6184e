// Findings in pooled counts of a domain or an account, for alerts only. docs/guard.md, "Beyond one mailbox".
import type { Counts } from '../policy.ts';
import { addDays, type EpochMs, type IsoDate, utcDate } from '../time.ts';
import type { LimitedDays } from './window.ts';

export interface PooledSum extends Counts {
  /** Emails times their limit in ppm: a million times the allowed bounces. */
  readonly allowed: number;
}

export interface PooledWindow extends PooledSum {
  readonly from: IsoDate;
  readonly to: IsoDate;
}

export interface DomainExcess extends PooledWindow {
  readonly mailboxes: number;
}

export interface DomainWeek extends PooledWindow {
  /** True if the week and each shorter stretch stay within the limits. */
  readonly isWithinLimits: boolean;
}

export interface AccountShift {
  readonly last: PooledWindow;
  readonly before: PooledWindow;
  readonly domains: number;
  readonly isShifted: boolean;
  readonly hasEnded: boolean;
}

/** counted: its days are in the sums. unknown: without current data. A paused mailbox counts. */
export type Standing = 'counted' | 'unknown' | 'pending';

export interface Part {
  readonly domain: string;
  readonly standing: Standing;
  readonly days: LimitedDays | null;
}

/** Age at which a day without rows ends the windows, too. */
const quietDays = 2;

export class Pool<Of extends Part = Part> {
  readonly parts: readonly Of[];
  readonly #byDate = new Map<IsoDate, { sent: number; bounced: number; allowed: number }>();

  constructor(parts: readonly Of[]) {
    this.parts = parts;
    for (const { days } of parts) {
      for (const { date, sent, bounced } of days?.days ?? []) {
        const sum = this.#byDate.get(date) ?? { sent: 0, bounced: 0, allowed: 0 };
        sum.sent += sent;
        sum.bounced += bounced;
        sum.allowed += (days?.limitOn(date) ?? 0) * sent;
        this.#byDate.set(date, sum);
      }
    }
  }

  of(standing: Standing): number {
    return this.parts.filter((part) => part.standing === standing).length;
  }

  daysWithRows(from: IsoDate, to: IsoDate): number {
    return [...this.#byDate.keys()].filter((date) => date >= from && date <= to).length;
  }

  sum(from: IsoDate, to: IsoDate): PooledSum {
    let [sent, bounced, allowed] = [0, 0, 0];
    for (const [date, day] of this.#byDate) {
      if (date < from || date > to) continue;
      sent += day.sent;
      bounced += day.bounced;
      allowed += day.allowed;
    }
    return { sent, bounced, allowed };
  }

  since(from: IsoDate, what: 'bounced' | 'sent'): number {
    return this.parts.filter(({ days }) => days?.days.some((day) => day.date >= from && day[what] > 0)).length;
  }

  /** Last day of the windows: the newest with rows, at the earliest two days ago. Null without rows. */
  lastDay(now: EpochMs): IsoDate | null {
    const newest = [...this.#byDate.keys()].reduce((a, b) => (a > b ? a : b), '');
    const earliest = addDays(utcDate(now), -quietDays);
    if (newest === '') return null;
    return newest < earliest ? earliest : newest;
  }
}

export interface Pools<Of extends Part = Part> {
  readonly whole: Pool<Of>;
  readonly domains: ReadonlyMap<string, Pool<Of>>;
}

export function poolsOf<Of extends Part>(parts: readonly Of[]): Pools<Of> {
  const domains = [...Map.groupBy(parts, ({ domain }) => domain)];
  return { whole: new Pool(parts), domains: new Map(domains.map(([name, own]) => [name, new Pool(own)])) };
}

const domainDays = 7;

/** Fewer bounces above the limits come by chance. */
const bouncesBeyondLimits = 3;
/** Number of bouncing mailboxes. For one of two, bounce_burst is the alert. */
const [fewestBouncing, mostBouncing] = [2, 3];

/** The shortest stretch up to the newest day that matches. */
function stretchOf(domain: Pool, now: EpochMs, isIt: (sum: PooledSum, from: IsoDate) => boolean): PooledWindow | null {
  const to = domain.lastDay(now);
  if (to === null) return null;
  for (let back = 0; back < domainDays; back += 1) {
    const from = addDays(to, -back);
    const sum = domain.sum(from, to);
    if (isIt(sum, from)) return { ...sum, from, to };
  }
  return null;
}

export function domainExcess(domain: Pool, now: EpochMs): DomainExcess | null {
  // An unknown mailbox may be a third one with bounces.
  const known = domain.of('counted') + domain.of('unknown');
  if (known < fewestBouncing) return null;
  const excess = stretchOf(
    domain,
    now,
    ({ bounced, allowed }, from) =>
      (bounced - bouncesBeyondLimits) * 1e6 >= allowed &&
      domain.since(from, 'bounced') >= Math.min(known, mostBouncing),
  );
  if (!excess) return null;
  const { from } = excess;
  return { ...excess, mailboxes: Math.max(domain.since(from, 'sent'), domain.since(from, 'bounced')) };
}

export function domainWeek(domain: Pool, now: EpochMs): DomainWeek | null {
  const to = domain.lastDay(now);
  if (to === null) return null;
  const from = addDays(to, 1 - domainDays);
  const over = stretchOf(domain, now, ({ bounced, allowed }) => bounced * 1e6 > allowed);
  return { ...domain.sum(from, to), from, to, isWithinLimits: over === null };
}

const [shiftDays, daysBefore] = [2, 28];
const leastDays = 14;
const leastDomains = 5;
const bouncesBeyondRate = 12;

/** Returns null if there is too little data. */
export function accountShift({ whole, domains: pools }: Pools, now: EpochMs): AccountShift | null {
  const to = whole.lastDay(now);
  if (to === null) return null;
  const [from, until] = [addDays(to, 1 - shiftDays), addDays(to, -shiftDays)];
  const earliest = addDays(until, 1 - daysBefore);
  if (whole.daysWithRows(earliest, to) < leastDays) return null;
  const last = { ...whole.sum(from, to), from, to };
  const before = { ...whole.sum(earliest, until), from: earliest, to: until };
  if (before.sent === 0) return null;
  const domains = [...pools.values()].filter((pool) => pool.since(from, 'bounced') > 0).length;
  const usual = before.bounced * last.sent;
  const isDoubled = last.bounced * before.sent >= 2 * usual;
  const isMore = (last.bounced - bouncesBeyondRate) * before.sent >= usual;
  // There is no rate to compare without emails, as when everything is paused.
  const hasEnded = last.bounced === 0 || 2 * last.bounced * before.sent < 3 * usual;
  return { last, before, domains, isShifted: isDoubled && isMore && domains >= leastDomains, hasEnded };
}
