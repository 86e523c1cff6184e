// What pooled counts say beyond one mailbox: a domain over its limits, and an account whose bounce rate has shifted. In
// integers. Alerts only: neither ever leads to an action. docs/guard.md, "Beyond one mailbox".
import type { AccountShift, DomainExcess, DomainWeek, PooledWindow } from '../model/pooled.ts';
import { addDays, type EpochMs } from '../model/time.ts';
import type { Pool } from './pool.ts';
import type { PooledAccount } from './pooled-account.ts';
import { lastDayOf, noCounts, plus } from './pooled-counts.ts';

/** A domain is looked at over the last so many days, and each shorter stretch of them; it ends over all of them. */
const domainDays = 7;
/** Bounces on top of what the limits allow; fewer come by chance. */
const bouncesBeyondLimits = 3n;
/** So many of a domain's mailboxes must have bounces. One of two has its own alert, bounce_burst. */
const [fewestBouncing, mostBouncing] = [2, 3];

const million = 1_000_000n;

/** The newest day of a domain, the newest two, and so on up to seven; none without rows. */
function stretchesOf({ counts }: Pool, now: EpochMs): readonly PooledWindow[] {
  const to = lastDayOf(counts, now);
  if (to === null) return [];
  let sum = noCounts;
  return Array.from({ length: domainDays }, (_, back) => {
    const from = addDays(to, -back);
    sum = plus(sum, counts.on(from));
    return { ...sum, from, to };
  });
}

/** The shortest excess up to the newest day; null when there is none. */
export function domainExcess(domain: Pool, now: EpochMs): DomainExcess | null {
  const { bouncing, sending } = domain.counts;
  // What nothing is known of may still be a third mailbox.
  const mailboxes = domain.of('counted') + domain.of('unknown');
  if (mailboxes < fewestBouncing || bouncing.newest() === null) return null;
  const excess = stretchesOf(domain, now).find(
    ({ bounced, allowed, from }) =>
      (bounced - bouncesBeyondLimits) * million >= allowed && bouncing.since(from) >= Math.min(mailboxes, mostBouncing),
  );
  if (!excess) return null;
  return { ...excess, mailboxes: Math.max(sending.since(excess.from), bouncing.since(excess.from)) };
}

/** The last seven days of a domain; null without rows. */
export function domainWeek(domain: Pool, now: EpochMs): DomainWeek | null {
  const stretches = stretchesOf(domain, now);
  const week = stretches.at(-1);
  const isWithinLimits = stretches.every(({ bounced, allowed }) => bounced * million <= allowed);
  return week ? { ...week, isWithinLimits } : null;
}

/** The last days of an account against those before them. */
const [shiftDays, daysBefore] = [2, 28];
/** With fewer days of rows nothing is compared. */
const leastDays = 14;
const leastDomains = 5;
/** Bounces on top of what the earlier rate makes of the last days' emails. */
const bouncesBeyondRate = 12n;

/** null while there is too little to compare. */
export function accountShift(account: PooledAccount, now: EpochMs): AccountShift | null {
  const { counts } = account.whole;
  const to = lastDayOf(counts, now);
  if (to === null) return null;
  const [from, until] = [addDays(to, 1 - shiftDays), addDays(to, -shiftDays)];
  const earliest = addDays(until, 1 - daysBefore);
  if (counts.daysWithRows(earliest, to) < leastDays) return null;
  const last = { ...counts.sum(from, to), from, to };
  const before = { ...counts.sum(earliest, until), from: earliest, to: until };
  if (before.sent === 0n) return null;
  const domains = account.domainsBouncingSince(from);
  const usual = before.bounced * last.sent;
  const isDoubled = last.bounced * before.sent >= 2n * usual;
  const isMore = (last.bounced - bouncesBeyondRate) * before.sent >= usual;
  const isOver = 2n * last.bounced * before.sent < 3n * usual;
  return { last, before, domains, isShifted: isDoubled && isMore && domains >= leastDomains, isOver };
}
