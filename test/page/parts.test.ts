// The chart of a mailbox shows the limit that was in force on each day; times are shown in the zone of the reader.

import { createContext, runInContext } from 'node:vm';
import { expect, test } from 'vitest';
import { localTimes } from '../../src/web/page/assets/scripts.ts';
import { dayChart } from '../../src/web/page/parts/charts.ts';
import { row } from '../guard/samples.ts';

test('the limit steps on the day on which the mode changed, and is not drawn where it is not known', async () => {
  const rows = ['2026-03-07', '2026-03-08', '2026-03-09', '2026-03-10'].map((date) => ({ ...row(date, 100, 1), date }));
  const limits: Readonly<Record<string, number>> = { '2026-03-08': 10_000, '2026-03-09': 3_000, '2026-03-10': 3_000 };
  const changes = [
    { what: 'mode', from: 'balanced', to: 'slow<', since: 0, at: Date.parse('2026-03-09T10:00Z') } as const,
  ];
  const chart = String(
    await dayChart({ rows, limitOn: (date) => limits[date] ?? null, actions: [], changes, alerts: [] }),
  );
  const heights = [...chart.matchAll(/class="limit"[^>]* y1="([\d.]+)"/g)].map(([, y]) => Number(y));
  expect(heights).toHaveLength(3);
  expect(heights[0]).toBeLessThan(heights[1] ?? 0);
  expect(heights[1]).toBe(heights[2]);
  // 1 % over the 7 days: at the limit of the 8th, over that of the 9th and 10th.
  expect([...chart.matchAll(/class="rate over"/g)]).toHaveLength(2);
  expect(chart).toContain('2026-03-08: 100 sent, 1 bounced; 1\u00a0% over 7 days, the limit was 1\u00a0%');
  expect(chart).toMatch(/2026-03-09: [^<]*; others: mode balanced → slow&lt;<\/title>/);
  expect([...chart.matchAll(/class="changed"/g)]).toHaveLength(1);
});

function shownIn(timeZone: string, element: { title: string; show?: string; text?: string }) {
  const dateTime = '2026-03-12T03:12:07.000Z';
  const time = {
    dateTime,
    title: element.title,
    textContent: element.text ?? '4 min ago',
    dataset: { show: element.show },
  };
  class DateTimeFormat extends Intl.DateTimeFormat {
    constructor(locale: string, options: object) {
      super(locale, { ...options, timeZone });
    }
  }
  const document = { querySelectorAll: (what: string) => (what === 'time[datetime]' ? [time] : []) };
  runInContext(localTimes, createContext({ document, Intl: { DateTimeFormat } }));
  return [time.textContent, time.title];
}

test('a reader sees the clock, days and moments of their zone with its offset from UTC; how long ago stays', () => {
  const title = '2026-03-12T03:12:07.000Z';
  const moment = '12 Mar 2026, 04:12 UTC+1';
  expect(shownIn('Europe/Berlin', { title, show: 'clock', text: '03:12:07 UTC' })).toEqual(['04:12:07 UTC+1', moment]);
  expect(shownIn('Europe/Berlin', { title: `read at ${title}` })).toEqual(['4 min ago', `read at ${moment}`]);
  expect(shownIn('UTC', { title, show: 'clock' })).toEqual(['03:12:07 UTC', '12 Mar 2026, 03:12 UTC']);
  expect(shownIn('America/New_York', { title: '', show: 'day', text: '2026-03-12' })).toEqual(['11 Mar 2026', '']);
  expect(shownIn('Asia/Kolkata', { title: '', show: 'moment' })[0]).toBe('12 Mar 2026, 08:42 UTC+5:30');
});
