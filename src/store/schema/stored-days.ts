// The days that a decision rests on, as one short text: a fleet has such a row a day and mailbox.
import type { DecisionDay } from '../../model/decision.ts';
import { addDays, dayMs, type IsoDate } from '../../model/time.ts';
import type { RowKey } from '../failure.ts';
import { parsed } from './parsed.ts';

/** `["2026-03-04",0,12,0,1,30,1]`: the first date, then for each day how many days after it, sent, and bounced. */
export function daysText(days: readonly DecisionDay[]): string {
  const [first] = days.map(([date]) => date).sort();
  if (first === undefined) return '[]';
  const flat = days.flatMap(([date, sent, bounced]) => [daysBetween(first, date), sent, bounced]);
  return JSON.stringify([first, ...flat]);
}

/** Days as `daysText` wrote them. `key`: that of the decision's row. Throws DamagedRowError. */
export function storedDays(text: string, key: RowKey): readonly DecisionDay[] {
  const [first, ...flat] = parsed<readonly [IsoDate, ...(number | null)[]]>(text, 'decisions', key);
  return Array.from({ length: Math.floor(flat.length / 3) }, (_, index) => {
    const [after, sent, bounced] = flat.slice(index * 3);
    return [addDays(first, after ?? 0), sent ?? null, bounced ?? null];
  });
}

const daysBetween = (from: IsoDate, to: IsoDate) => Math.round((Date.parse(to) - Date.parse(from)) / dayMs);
