// One row a day, whatever order an answer is in.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dailyRows, lastWeek } from '../../src/core/daily-counts.ts';
import { addDays } from '../../src/core/time.ts';
import { now, row, today } from '../web/example-fleet.ts';

test('rows that need nothing put right are read as they are, and as the same in any other order', () => {
  const days = fc.uniqueArray(fc.integer({ min: -40, max: 3 }), { minLength: 1 });
  fc.assert(
    fc.property(days, fc.boolean(), (back, doubled) => {
      const rows = back.map((offset, index) => row(addDays(today, offset), { sent: index }));
      const tidy = rows.toSorted((a, b) => ((a.date ?? '') < (b.date ?? '') ? -1 : 1));
      const counted = tidy.filter(({ date }) => (date ?? '') <= addDays(today, 1));
      const read = dailyRows({ rows: doubled ? [...rows, row('2026-02-30'), ...rows] : rows }, now);
      expect(read).toEqual(counted);
      expect(dailyRows({ rows: tidy }, now)).toEqual(counted);
    }),
  );
});

test('a week ends with the newest day that counts: a blank row for tomorrow takes no day away', () => {
  const week = [0, -1, -2, -3, -4, -5, -6].map((back) => row(addDays(today, back), { sent: 1 }));
  const blank = row(addDays(today, 1), { sent: 0, bounced: 0, delivered: null });
  expect(lastWeek({ rows: [...week, blank] }, now)).toEqual(week.toReversed());
});
