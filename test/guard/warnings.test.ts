// What a verdict says of the data that it rests on: how old it is, and what of it contradicts itself.
import { expect, test } from 'vitest';
import type { StatsRow } from '../../src/core/answers.ts';
import { judge } from '../../src/core/guard/judge.ts';
import { defaultPolicy } from '../../src/core/policy.ts';
import { addDays, minuteMs } from '../../src/core/time.ts';
import { daysUpTo, now, row, situation, times, today } from './samples.ts';

const week = daysUpTo(today, ...times(7, 40));
const warningsOf = (rows: readonly StatsRow[]) => judge(defaultPolicy, situation({ rows })).warnings;
/** 1 bounce in 40 emails. */
const withRate = (date: string, percent: number): StatsRow => ({ ...row(date, 40, 1), bounceRatePercent: percent });
const others = week.slice(0, -1);
const contradiction = `${today}: bounce_rate says 2.52 %, the counts say 2.50 %; Warmwarden uses the counts`;

test('its age is that of the statistics, and never negative', () => {
  const aged = (ageMs: number) => judge(defaultPolicy, situation({ statsAt: now - ageMs })).dataAgeMs;
  expect([aged(17 * minuteMs), aged(0), aged(-minuteMs)]).toEqual([17 * minuteMs, 0, 0]);
});

test('a rate that the counts contradict is named; one that is rounded, absent, or of no emails is not', () => {
  expect(warningsOf(week)).toEqual([]);
  expect(warningsOf([...others, withRate(today, 2.5)])).toEqual([]);
  expect(warningsOf([...others, withRate(today, 2.51)])).toEqual([]);
  expect(warningsOf([...others, withRate(today, 2.52)])).toEqual([contradiction]);
  expect(warningsOf([...others, { ...row(today, 0, 0), bounceRatePercent: 3 }])).toEqual([]);
});

test('so it is where days are out of order, doubled or in the future, which is named, too', () => {
  expect(warningsOf([withRate(today, 2.52), ...others])).toEqual([contradiction]);
  expect(warningsOf([...week, row(today, 40, 0)])).toEqual([]);
  const doubled = `${today}: two rows differ; Warmwarden uses the one with more emails`;
  expect(warningsOf([...week, row(today, 30, 0)])).toEqual([doubled]);
  const ahead = addDays(today, 2);
  expect(warningsOf([...week, row(addDays(today, 1), 5, 0), row(ahead, 5, 0)])).toEqual([
    `${ahead}: Warmwarden ignores a day in the future`,
  ]);
});
