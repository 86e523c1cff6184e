// The fleet per day: emails sent and bounced, actions, and held mailboxes. The sums are cached for a minute.
import { dailyRows } from '../../core/daily-counts.ts';
import type { Fleet } from '../../core/fleet/fleet.ts';
import { mailboxKey } from '../../core/mailbox.ts';
import type { HeldSpan } from '../../core/records.ts';
import { addDays, dayMs, type EpochMs, type IsoDate, minuteMs, utcDate } from '../../core/time.ts';
import type { World } from '../../world/world.ts';
import { orNull, type RouteParts, type TrendDay } from '../route-parts.ts';

const daysShown = 30;
/** Longest age of the cached sums, which change little within a minute. */
const freshMs = minuteMs;

interface TrendParts {
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

/** Returns a function that reads the last days. It sums them once a minute. */
export function createTrend(parts: TrendParts): RouteParts['trend'] {
  let newest: { readonly at: EpochMs; readonly days: Promise<readonly TrendDay[]> } | null = null;
  return async () => {
    const now = parts.world.clock.now();
    // Readers at one moment share one sum.
    if (!newest || now - newest.at >= freshMs || now < newest.at) newest = { at: now, days: sumDays(parts, now) };
    const shown = newest;
    const days = await shown.days;
    // A failed read is not kept.
    if (newest === shown && days.some(({ acted, held }) => acted === null || held === null)) newest = null;
    return days;
  };
}

async function sumDays({ fleet, world, days }: TrendParts, now: EpochMs): Promise<readonly TrendDay[]> {
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
  if (sums.size === 0) return [];
  const begin = Date.parse(first);
  const acted = await orNull(world, () => days.acted(begin));
  const held = await orNull(world, () => days.held(begin));
  return Array.from({ length: daysShown }, (_, index) => {
    const at = begin + index * dayMs;
    const heldThen = held?.filter(({ since, until }) => since < at + dayMs && until >= at);
    return {
      date: utcDate(at),
      ...(sums.get(utcDate(at)) ?? { sent: 0, bounced: 0 }),
      acted: acted && (acted.find(({ day }) => day === at / dayMs)?.count ?? 0),
      held: heldThen ? new Set(heldThen.map(({ account, id }) => mailboxKey(account, id))).size : null,
    };
  });
}
