// Calendar dates: what is one, and how they go on.
import { expect, test } from 'vitest';
import { addDays, dayMs, isIsoDate, utcDate } from '../../src/core/time.ts';

test.each([
  ['1970-01-01', true],
  ['2024-02-29', true],
  ['2026-02-29', false],
  ['2026-04-31', false],
  ['2026-13-01', false],
  ['1969-12-31', false],
  ['0000-01-01', false],
  ['12026-01-01', false],
  ['NaN-NaN-NaN', false],
])('whether %s is a date', (text, is) => {
  expect(isIsoDate(text)).toBe(is);
});

test('dates go on over months and years', () => {
  const start = Date.UTC(2024, 0, 1);
  const expected = Array.from({ length: 3_000 }, (_, day) => new Date(start + day * dayMs).toISOString().slice(0, 10));
  expect(expected.map((_, day) => addDays('2024-01-01', day))).toEqual(expected);
  expect(expected.map((_, day) => utcDate(start + (day + 1) * dayMs - 1))).toEqual(expected);
});
