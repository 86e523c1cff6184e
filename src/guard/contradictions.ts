// Counts against the other things that the same rows say: another row of the day, the rate, the delivered emails. Pure.

import { addDays, type IsoDate } from '../model/time.ts';
import type { Doubt } from '../model/verdict.ts';
import { type Counts, type Day, type Days, isCounted } from './rows.ts';

/** The gravity of counts: 0 nothing, 1 a breach, 2 an emergency. */
export interface CountsFinding extends Counts {
  readonly grade: 0 | 1 | 2;
  readonly from: IsoDate;
  readonly to: IsoDate;
}

/** The same days by another source. */
interface Reading {
  readonly by: Exclude<Doubt['by'], 'earlier_answer'>;
  readonly days: readonly Day[];
  /** The reading takes bounces away, on days with more bounces than emails alone. */
  readonly denies?: true;
}

/** A rate has two fraction digits; as much again is no contradiction. */
const rateTolerancePercent = 0.01;

/** The bounces that a day's rate stands for; null: it agrees with the counts, or says nothing. A rate ends at 100 %, bounces do not. */
function bouncesByRate({ sent, bounced, bounceRatePercent: percent = null }: Day): number | null {
  if (!sent || bounced === null || percent === null || percent < 0) return null;
  if (bounced >= sent && percent >= 100) return null;
  if (Math.abs((bounced * 100) / sent - percent) <= rateTolerancePercent) return null;
  const bounces = Math.round((percent * sent) / 100);
  return bounces === bounced ? null : bounces;
}

/** The reading that leads further than the counts do, or not as far; null if none does. `find` says what the counts of some days lead to. */
export function contradictionIn(days: Days, today: IsoDate, find: (days: Days) => CountsFinding | null): Doubt | null {
  let counted: CountsFinding | null | undefined;
  for (const { by, days: others, denies } of readingsOf(days, today)) {
    counted ??= find(days);
    const read = find({ ...days, days: others });
    if (!counted || !read) return null;
    const { grade, ...counts } = read;
    if (denies ? grade < counted.grade : counted.grade === 0 && grade > 0) return { by, ...counts };
  }
  return null;
}

/** Nearly always none. */
function readingsOf({ days, others }: Days, today: IsoDate): readonly Reading[] {
  const readings: Reading[] = [];
  const add = (by: Reading['by'], bouncesOf: (day: Day & Counts) => number | null, denies?: true) => {
    let differs = false;
    const read = days.map((day) => {
      const bounced = isCounted(day) ? bouncesOf(day) : null;
      if (bounced === null || bounced === day.bounced) return day;
      differs = true;
      return { ...day, bounced };
    });
    if (differs) readings.push({ by, days: read, ...(denies && { denies }) });
  };
  if (others.size > 0) {
    readings.push({
      by: 'second_row',
      days: days.map((day) => (isCounted(day) ? (others.get(day.date) ?? day) : day)),
    });
  }
  if (days.some((day) => bouncesByRate(day) !== null)) {
    add('bounce_rate', bouncesByRate);
    add('bounce_rate', (day) => (day.bounced > day.sent ? bouncesByRate(day) : null), true);
  }
  // An API that never counts what is delivered says nothing with a 0.
  if (days.some(differsFromDelivered) && days.some(({ delivered }) => (delivered ?? 0) > 0)) {
    add('delivered', (day) => undelivered(day, today));
  }
  return readings;
}

function differsFromDelivered({ sent, bounced, delivered }: Day): boolean {
  return sent !== null && bounced !== null && typeof delivered === 'number' && delivered !== sent - bounced;
}

/** Emails of a day that did not arrive. Those of today and yesterday may still be on their way: such a day counts its bounces. */
function undelivered({ date, sent, bounced, delivered = null }: Day & Counts, today: IsoDate): number | null {
  if (delivered === null || !(delivered >= 0 && delivered <= sent)) return null;
  return date < addDays(today, -1) ? sent - delivered : Math.min(bounced, sent - delivered);
}
