// The chart of a mailbox shows the limit that was in force on each day, not today's over all of them.
import { expect, test } from 'vitest';
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
