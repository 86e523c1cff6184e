// The alert about a burst, whose days and limit the oracle knows (oracle.test.ts); what a verdict says of the data that it rests on.
import { expect, test } from 'vitest';
import { bounceBurst } from '../../src/alerts/rules/bounce-rules.ts';
import type { StatsRow } from '../../src/core/answers.ts';
import { judge } from '../../src/core/guard/judge.ts';
import { defaultPolicy, type WarmupMode } from '../../src/core/policy.ts';
import { addDays, minuteMs } from '../../src/core/time.ts';
import type { Verdict } from '../../src/core/verdict.ts';
import { judged, sampleContext } from '../alerts/samples.ts';
import { daysUpTo, now, row, situation, times, today } from './samples.ts';

type DayCounts = readonly [sent: number, bounced: number];

function verdictOn(
  mode: WarmupMode,
  days: readonly DayCounts[],
  burst: 'alert' | 'act' = 'alert',
  change = {},
): Verdict {
  return judge({ ...defaultPolicy, burst }, situation({ mode, rows: daysUpTo(today, ...days), ...change }));
}

const days: readonly DayCounts[] = [...times(6, 80), [50, 4]];

test('the alert about a burst says since when, and what the limit allows; it leaves a breach to the other rules', () => {
  const conditionOf = (verdict: Verdict) => bounceBurst(judged(verdict), sampleContext());
  const fires = conditionOf(verdictOn('aggressive', days));
  expect(fires).toMatchObject({ active: true, severity: 'warning', observations: 1 });
  expect(fires.facts.sentences[0]).toBe('4 bounces in 50 emails since 20 March: 8%, over the limit of 2%.');
  expect(fires.facts.numbers).toMatchObject({ burst_bounced: 4, burst_sent: 50, burst_from: today });
  expect(conditionOf(verdictOn('aggressive', days, 'act')).active).toBe('unknown');
  expect(conditionOf(verdictOn('aggressive', times(7, 80))).active).toBe(false);
  expect(conditionOf(verdictOn('aggressive', days, 'alert', { run: 'paused' })).active).toBe(false);
  expect(conditionOf(verdictOn('aggressive', days, 'alert', { rows: null })).active).toBe('unknown');
});

const week = daysUpTo(today, ...times(7, 40));
const warningsOf = (rows: readonly StatsRow[]) => judge(defaultPolicy, situation({ rows })).warnings;
/** 1 bounce in 40 emails. */
const withRate = (date: string, percent: number): StatsRow => ({ ...row(date, 40, 1), bounceRatePercent: percent });
const others = week.slice(0, -1);
const contradiction = `${today}: bounce_rate says 2.52%, the counts say 2.50%; Warmwarden uses the counts`;

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
