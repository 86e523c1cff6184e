// Calendar dates: what is one, and that what was asked for before changes no answer.
import { expect, test } from 'vitest';
import { addDays, dayMs, isIsoDate, utcDate } from '../../src/core/time.ts';

test.each([
  ['1970-01-01', true],
  ['2024-02-29', true],
  ['2026-02-29', false],
  ['2026-04-31', false],
  ['2026-13-01', false],
  ['1969-12-31', false],
  ['12026-01-01', false],
  ['NaN-NaN-NaN', false],
])('whether %s is a date does not depend on what was computed before', (text, is) => {
  const before = isIsoDate(text);
  for (const at of [Number.NaN, -dayMs, Date.UTC(2026, 1, 29), Date.UTC(12_026, 0, 1)]) utcDate(at);
  for (const [date, later] of [
    ['1970-01-01', -1],
    ['2026-02-28', 1],
    ['2026-04-30', 1],
    ['not a date', 1],
  ] as const)
    addDays(date, later);
  expect([before, isIsoDate(text)]).toEqual([is, is]);
});

test('dates go on over months, years and more of them than are remembered', () => {
  const start = Date.UTC(2024, 0, 1);
  const expected = Array.from({ length: 3_000 }, (_, day) => new Date(start + day * dayMs).toISOString().slice(0, 10));
  expect(expected.map((_, day) => addDays('2024-01-01', day))).toEqual(expected);
  expect(expected.map((_, day) => utcDate(start + (day + 1) * dayMs - 1))).toEqual(expected);
});
