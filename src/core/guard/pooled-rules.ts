// Findings in pooled counts: a domain over its limits, and an account with a shifted bounce rate. Alerts only: neither
// leads to an action. docs/guard.md, "Beyond one mailbox".

import type { AccountShift, DomainExcess, DomainWeek, PooledSum, PooledWindow } from '../breaker.ts';
import { addDays, type EpochMs, type IsoDate } from '../time.ts';
import type { Pool, Pools } from './pool.ts';

/** A domain is looked at over the last so many days, and each shorter stretch of them. */
const domainDays = 7;

/** Bounces on top of what the limits allow; fewer come by chance. */
const bouncesBeyondLimits = 3;
/** Number of a domain's mailboxes that must have bounces. For one of two, bounce_burst is the alert. */
const [fewestBouncing, mostBouncing] = [2, 3];

const million = 1_000_000;

/** The first that is looked for of a domain's newest day, its newest two, and so on up to seven; null without such a one. */
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

/** The shortest excess up to the newest day; null when there is none. */
export function domainExcess(domain: Pool, now: EpochMs): DomainExcess | null {
  // An unknown mailbox may be a third one with bounces.
  const mailboxes = domain.of('counted') + domain.of('unknown');
  if (mailboxes < fewestBouncing || domain.bouncedOn() === null) return null;
  const excess = stretchOf(
    domain,
    now,
    ({ bounced, allowed }, from) =>
      (bounced - bouncesBeyondLimits) * million >= allowed &&
      domain.since(from, 'bounced') >= Math.min(mailboxes, mostBouncing),
  );
  if (!excess) return null;
  const { from } = excess;
  return { ...excess, mailboxes: Math.max(domain.since(from, 'sent'), domain.since(from, 'bounced')) };
}

/** The last seven days of a domain; null without rows. */
export function domainWeek(domain: Pool, now: EpochMs): DomainWeek | null {
  const last = domain.lastDay(now);
  if (last === null) return null;
  const week = stretchOf(domain, now, (_, from) => from === addDays(last, 1 - domainDays));
  const over = stretchOf(domain, now, ({ bounced, allowed }) => bounced * million > allowed);
  return week && { ...week, isWithinLimits: over === null };
}

/** The last days of an account against those before them. */
const [shiftDays, daysBefore] = [2, 28];
/** Fewest days with rows for a comparison. */
const leastDays = 14;
const leastDomains = 5;
/** Bounces on top of what the earlier rate makes of the last days' emails. */
const bouncesBeyondRate = 12;

/** Compares the last days of an account with those before, or returns null if there is too little data. */
export function accountShift({ whole, domains: pools }: Pools, now: EpochMs): AccountShift | null {
  const to = whole.lastDay(now);
  if (to === null) return null;
  const [from, until] = [addDays(to, 1 - shiftDays), addDays(to, -shiftDays)];
  const earliest = addDays(until, 1 - daysBefore);
  if (whole.daysWithRows(earliest, to) < leastDays) return null;
  const last = { ...whole.sum(from, to), from, to };
  const before = { ...whole.sum(earliest, until), from: earliest, to: until };
  if (before.sent === 0) return null;
  const domains = [...pools.values()].filter((pool) => (pool.bouncedOn() ?? '') >= from).length;
  const usual = before.bounced * last.sent;
  const isDoubled = last.bounced * before.sent >= 2 * usual;
  const isMore = (last.bounced - bouncesBeyondRate) * before.sent >= usual;
  const isOver = 2 * last.bounced * before.sent < 3 * usual;
  return { last, before, domains, isShifted: isDoubled && isMore && domains >= leastDomains, isOver };
}
