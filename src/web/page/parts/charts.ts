// Chart of a mailbox per day, with its bounce rate against the limit.
import { html } from 'hono/html';
import type { Action } from '../../../core/action.ts';
import type { Alert } from '../../../core/alert.ts';
import { rowsBetween, sumOf } from '../../../core/daily-counts.ts';
import type { DailyRow } from '../../../core/guard/rows.ts';
import type { Change } from '../../../core/mailbox.ts';
import type { Ppm } from '../../../core/policy.ts';
import { addDays, type IsoDate, utcDate } from '../../../core/time.ts';
import type { EvidenceStart } from '../../../core/verdict.ts';
import { counted, numberText, percentText } from '../../../core/wording/phrases.ts';
import { type Markup, table, text } from './elements.ts';

export interface DayChartParts {
  readonly rows: readonly DailyRow[];
  /** Days of each rate, as the guard counts bounces. */
  readonly windowDays: number;
  readonly limitOn: (date: IsoDate) => Ppm | null;
  /** Start of the emails that count for the guard, or null if it is unknown. Later rates leave out what was before. */
  readonly evidence: EvidenceStart | null;
  readonly actions: readonly Action[];
  readonly changes: readonly Change[];
  readonly alerts: readonly Alert[];
}

interface ChartDay extends Pick<DayChartParts, 'actions' | 'changes' | 'alerts'> {
  readonly date: IsoDate;
  /** Emails sent, or null if the count is invalid. A day without a row counts 0 sent and 0 bounced. */
  readonly sent: number | null;
  readonly bounced: number | null;
  /** Bounce rate over the days of the window ending here, or null without emails or with an invalid row. */
  readonly ratePpm: Ppm | null;
  readonly limitPpm: Ppm | null;
}

const daysShown = 30;
/** The bars of the emails and those of the rates stand on a floor each. */
const chart = { width: 720, left: 60, sentFloor: 110, sentHeight: 96, rateFloor: 212, rateHeight: 72, bottom: 232 };
const step = (chart.width - chart.left) / daysShown;

export function dayChart(parts: DayChartParts): Markup {
  const { actions, changes, alerts, evidence } = parts;
  const days = daysOf(parts);
  const isCut = days.some(({ date }) => date === evidence?.from);
  const windowText = `${isCut ? 'at most ' : ''}${counted(parts.windowDays, 'day')}`;
  if (days.length === 0) return html`<p class="muted">There are no daily statistics yet.</p>`;
  const { width, left, sentFloor, sentHeight, rateFloor, bottom } = chart;
  const maxSent = Math.max(1, ...days.map((day) => Math.max(day.sent ?? 0, day.bounced ?? 0)));
  const limitPpm = days.at(-1)?.limitPpm ?? null;
  const maxRate = Math.max(1_000, ...days.map((day) => Math.max((day.limitPpm ?? 0) * 2, day.ratePpm ?? 0)));
  const first = left + (daysShown - days.length) * step;
  const groups = days.map((day, index) => dayGroup(day, first + index * step, { maxSent, maxRate, windowText }));
  return html`<figure class="chart">
<svg viewBox="0 0 ${width} ${bottom}" role="img" aria-label="${summary(days, windowText, limitPpm)}">
<text x="0" y="${sentFloor - sentHeight + 8}">${numberText(maxSent)}</text><text x="0" y="${sentFloor}">0</text>
${[sentFloor, rateFloor].map((floor) => line('axis', [left, floor], [width, floor]))}
${groups}
${limitPpm !== null && html`<text x="0" y="${(limitHeight(limitPpm, maxRate) + 4).toFixed(1)}">${percentText(limitPpm)}</text>`}
<text x="${left}" y="${bottom - 4}">${days[0]?.date}</text><text class="end" x="${width}" y="${bottom - 4}">${days.at(-1)?.date}</text>
</svg>
${legend([
  ['sent', 'sent per day'],
  ['bounced', 'bounced per day'],
  ['rate', `bounce rate over ${windowText}, red when over the limit`],
  ['limit', 'limit of the day', limitPpm !== null],
  ['act', 'Warmwarden acted', actions.length > 0],
  ['changed', 'others changed it', changes.length > 0],
  ['fired', 'an alert began', alerts.length > 0],
])}
</figure>
${dayTable(days, windowText)}`;
}

function legend(keys: readonly (readonly [className: string, words: string, isShown?: boolean])[]): Markup {
  const shown = keys.filter(([, , isShown = true]) => isShown);
  return html`<figcaption>${shown.map(([className, words]) => html`<span class="key ${className}">${words}</span> `)}</figcaption>`;
}

type Point = readonly [x: number, y: number];

function line(className: string, [x1, y1]: Point, [x2, y2]: Point): Markup {
  return html`<line class="${className}" x1="${x1.toFixed(1)}" y1="${y1.toFixed(1)}" x2="${x2.toFixed(1)}" y2="${y2.toFixed(1)}"/>`;
}

/** Bar on a floor. The least height keeps a single bounce among hundreds of emails visible. */
function bar(className: string, [x, floor]: Point, width: number, height: number): Markup {
  const drawn = height === 0 ? 0 : Math.max(3, height);
  return html`<rect class="${className}" x="${x.toFixed(1)}" y="${(floor - drawn).toFixed(1)}" width="${width.toFixed(1)}" height="${drawn.toFixed(1)}" rx="1.5"/>`;
}

function daysOf({ rows, windowDays, actions, changes, alerts, limitOn, evidence }: DayChartParts): readonly ChartDay[] {
  const newest = rows.at(-1)?.date;
  const oldest = rows[0]?.date;
  if (newest === undefined || oldest === undefined) return [];
  const days: ChartDay[] = [];
  for (let back = daysShown - 1; back >= 0; back -= 1) {
    const date = addDays(newest, -back);
    if (date < oldest) continue;
    const row = rowsBetween(rows, date, date);
    const earliest = addDays(date, 1 - windowDays);
    const start = evidence !== null && evidence.from >= earliest && evidence.from <= date ? evidence : null;
    const window = rowsBetween(rows, start?.from ?? earliest, date);
    const countOf = (field: 'sent' | 'bounced') => {
      const sum = sumOf(window, field);
      return sum === null ? null : Math.max(0, sum - (start?.before?.[field] ?? 0));
    };
    const [sent, bounced] = [countOf('sent'), countOf('bounced')];
    days.push({
      date,
      sent: row.length === 0 ? 0 : sumOf(row, 'sent'),
      bounced: row.length === 0 ? 0 : sumOf(row, 'bounced'),
      ratePpm: sent === null || bounced === null || sent === 0 ? null : (bounced * 1e6) / sent,
      limitPpm: limitOn(date),
      actions: actions.filter((action) => utcDate(action.settledAt ?? action.plannedAt) === date),
      changes: changes.filter(({ at }) => utcDate(at) === date),
      alerts: alerts.filter(({ since }) => utcDate(since) === date),
    });
  }
  return days;
}

interface Scale {
  readonly maxSent: number;
  readonly maxRate: Ppm;
  /** Length of the window in words. */
  readonly windowText: string;
}

function dayGroup(day: ChartDay, x: number, { maxSent, maxRate, windowText }: Scale): Markup {
  const { sent, bounced, ratePpm, limitPpm, actions, changes, alerts } = day;
  const { sentFloor, sentHeight, rateFloor, rateHeight } = chart;
  const width = step - 4;
  const middle = x + width / 2;
  const over = limitPpm !== null && ratePpm !== null && ratePpm > limitPpm;
  const limitAt = limitPpm === null ? null : limitHeight(limitPpm, maxRate);
  return html`<g><title>${dayWords(day, windowText)}</title>
<rect class="catch" x="${x.toFixed(1)}" y="0" width="${step.toFixed(1)}" height="${rateFloor}"/>
${actions.length > 0 && line('act', [middle, 0], [middle, rateFloor])}${changes.length > 0 && line('changed', [middle + 2, 0], [middle + 2, rateFloor])}
${alerts.length > 0 && html`<path class="fired" d="M${middle.toFixed(1)} 1l5 9h-10z"/>`}
${bar('sent', [x, sentFloor], width, ((sent ?? 0) / maxSent) * sentHeight)}
${bar('bounced', [x, sentFloor], width, ((bounced ?? 0) / maxSent) * sentHeight)}
${bar(over ? 'rate over' : 'rate', [x, rateFloor], width, ((ratePpm ?? 0) / maxRate) * rateHeight)}
${limitAt !== null && line('limit', [x, limitAt], [x + step, limitAt])}
</g>`;
}

function dayWords(day: ChartDay, windowText: string): string {
  const counts = `${day.sent === null ? 'unknown' : numberText(day.sent)} sent, ${day.bounced === null ? 'unknown' : numberText(day.bounced)} bounced`;
  const limit = day.limitPpm === null ? '' : `, the limit was ${percentText(day.limitPpm)}`;
  const rate = day.ratePpm === null ? '' : `; ${percentText(day.ratePpm)} over ${windowText}${limit}`;
  const acted = day.actions.map((action) => `; Warmwarden: ${action.kind} (${action.state})`).join('');
  const changed = day.changes.map(
    ({ what, from, to }) => `; others: ${what} ${text(from ?? 'nothing')} → ${text(to ?? 'nothing')}`,
  );
  const began = day.alerts.map(({ rule }) => `; alert ${rule}`);
  return `${day.date}: ${counts}${rate}${acted}${changed.join('')}${began.join('')}`;
}

function limitHeight(limitPpm: Ppm, maxRate: Ppm): number {
  return chart.rateFloor - chart.rateHeight * (limitPpm / maxRate);
}

function summary(days: readonly ChartDay[], windowText: string, limitPpm: Ppm | null): string {
  const last = days.at(-1);
  const rate = last?.ratePpm === null || last === undefined ? 'unknown' : percentText(last.ratePpm);
  const limit = limitPpm === null ? 'no limit known' : `the limit is ${percentText(limitPpm)}`;
  return `Emails sent and bounced per day over ${counted(days.length, 'day')}. The bounce rate over ${windowText} is ${rate}; ${limit}. The table below has the numbers.`;
}

function dayTable(days: readonly ChartDay[], windowText: string): Markup {
  const rateText = (ppm: Ppm | null) => (ppm === null ? '–' : percentText(ppm));
  const rows = days
    .toReversed()
    .map(({ date, sent, bounced, ratePpm, limitPpm }) => [
      date,
      `${sent ?? '–'}`,
      `${bounced ?? '–'}`,
      rateText(ratePpm),
      rateText(limitPpm),
    ]);
  const headings = ['Day', 'Sent', 'Bounced', `Rate of ${windowText}`, 'Limit'];
  const shown = table({ caption: 'The mailbox per day, the newest first', className: 'days', headings, rows });
  return html`<details><summary>The numbers, day by day</summary>${shown}</details>`;
}
