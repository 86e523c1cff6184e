// Charts: a mailbox per day with its bounce rate against the limit, and the whole fleet per day.
import { html } from 'hono/html';
import type { Action } from '../../../core/action.ts';
import type { Alert } from '../../../core/alert.ts';
import { rowsBetween, sumOf } from '../../../core/daily-counts.ts';
import type { DailyRow } from '../../../core/guard/rows.ts';
import type { Change } from '../../../core/mailbox.ts';
import type { Ppm } from '../../../core/policy.ts';
import { addDays, type IsoDate, utcDate } from '../../../core/time.ts';
import { counted, numberText, share } from '../../../core/wording/phrases.ts';
import type { TrendDay } from '../../route-parts.ts';
import { type Markup, table, text } from './elements.ts';

export interface DayChartParts {
  readonly rows: readonly DailyRow[];
  readonly limitOn: (date: IsoDate) => Ppm | null;
  readonly actions: readonly Action[];
  readonly changes: readonly Change[];
  readonly alerts: readonly Alert[];
}

interface ChartDay {
  readonly date: IsoDate;
  /** Emails sent, or null if the count is invalid. A day without a row counts 0 sent and 0 bounced. */
  readonly sent: number | null;
  readonly bounced: number | null;
  /** Bounce rate over the 7 days ending here, or null without emails or with an invalid row. */
  readonly ratePpm: Ppm | null;
  readonly limitPpm: Ppm | null;
  readonly actions: readonly Action[];
  readonly changes: readonly Change[];
  readonly alerts: readonly Alert[];
}

const daysShown = 30;
const rateDays = 7;
const chart = { width: 720, left: 60, sentTop: 14, sentHeight: 96, rateTop: 140, rateHeight: 72, bottom: 232 } as const;

export function dayChart(parts: DayChartParts): Markup {
  const { actions, changes, alerts } = parts;
  const days = daysOf(parts);
  if (days.length === 0) return html`<p class="muted">There are no daily statistics yet.</p>`;
  const maxSent = Math.max(1, ...days.map((day) => Math.max(day.sent ?? 0, day.bounced ?? 0)));
  const limitPpm = days.at(-1)?.limitPpm ?? null;
  const maxRate = Math.max(1_000, ...days.map((day) => Math.max((day.limitPpm ?? 0) * 2, day.ratePpm ?? 0)));
  const step = (chart.width - chart.left) / daysShown;
  const first = daysShown - days.length;
  const groups = days.map((day, index) =>
    dayGroup(day, chart.left + (first + index) * step, { step, maxSent, maxRate }),
  );
  return html`<figure class="chart">
<svg viewBox="0 0 ${chart.width} ${chart.bottom}" role="img" aria-label="${summary(days, limitPpm)}">
<text x="0" y="${chart.sentTop + 8}">${numberText(maxSent)}</text><text x="0" y="${chart.sentTop + chart.sentHeight}">0</text>
<line class="axis" x1="${chart.left}" x2="${chart.width}" y1="${chart.sentTop + chart.sentHeight}" y2="${chart.sentTop + chart.sentHeight}"/>
<line class="axis" x1="${chart.left}" x2="${chart.width}" y1="${chart.rateTop + chart.rateHeight}" y2="${chart.rateTop + chart.rateHeight}"/>
${groups}
${limitPpm === null ? '' : limitLabel(limitPpm, maxRate)}
<text x="${chart.left}" y="${chart.bottom - 4}">${days[0]?.date}</text><text class="end" x="${chart.width}" y="${chart.bottom - 4}">${days.at(-1)?.date}</text>
</svg>
<figcaption><span class="key sent">sent per day</span> <span class="key bounced">bounced per day</span> <span class="key rate">bounce rate over 7 days, red when over the limit</span> ${limitPpm === null ? '' : html`<span class="key limit">limit of the day</span>`} ${actions.length > 0 ? html`<span class="key act">Warmwarden acted</span>` : ''} ${changes.length > 0 ? html`<span class="key changed">others changed it</span>` : ''} ${alerts.length > 0 ? html`<span class="key fired">an alert began</span>` : ''}</figcaption>
</figure>
${dayTable(days)}`;
}

function daysOf({ rows, actions, changes, alerts, limitOn }: DayChartParts): readonly ChartDay[] {
  const newest = rows.at(-1)?.date;
  const oldest = rows[0]?.date;
  if (newest === undefined || oldest === undefined) return [];
  const days: ChartDay[] = [];
  for (let back = daysShown - 1; back >= 0; back -= 1) {
    const date = addDays(newest, -back);
    if (date < oldest) continue;
    const row = rowsBetween(rows, date, date);
    const window = rowsBetween(rows, addDays(date, 1 - rateDays), date);
    const sent = sumOf(window, 'sent');
    const bounced = sumOf(window, 'bounced');
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
  readonly step: number;
  readonly maxSent: number;
  readonly maxRate: Ppm;
}

function dayGroup(day: ChartDay, x: number, { step, maxSent, maxRate }: Scale): Markup {
  const width = step - 4;
  const bar = (className: string, share: number, floor: number, height: number) => {
    // The least height keeps a single bounce among hundreds of emails visible.
    const drawn = share === 0 ? 0 : Math.max(3, share * height);
    return html`<rect class="${className}" x="${x.toFixed(1)}" y="${(floor - drawn).toFixed(1)}" width="${width.toFixed(1)}" height="${drawn.toFixed(1)}" rx="1.5"/>`;
  };
  const over = day.limitPpm !== null && day.ratePpm !== null && day.ratePpm > day.limitPpm;
  const sentFloor = chart.sentTop + chart.sentHeight;
  return html`<g><title>${dayWords(day)}</title>
<rect class="catch" x="${x.toFixed(1)}" y="0" width="${step.toFixed(1)}" height="${chart.rateTop + chart.rateHeight}"/>
${day.actions.length > 0 ? markLine('act', x + width / 2) : ''}${day.changes.length > 0 ? markLine('changed', x + width / 2 + 2) : ''}
${day.alerts.length > 0 ? html`<path class="fired" d="M${(x + width / 2).toFixed(1)} 1l5 9h-10z"/>` : ''}
${bar('sent', (day.sent ?? 0) / maxSent, sentFloor, chart.sentHeight)}
${bar('bounced', (day.bounced ?? 0) / maxSent, sentFloor, chart.sentHeight)}
${bar(over ? 'rate over' : 'rate', (day.ratePpm ?? 0) / maxRate, chart.rateTop + chart.rateHeight, chart.rateHeight)}
${day.limitPpm === null ? '' : limitLine(day.limitPpm, maxRate, { x, step })}
</g>`;
}

function markLine(className: 'act' | 'changed', x: number): Markup {
  return html`<line class="${className}" x1="${x.toFixed(1)}" x2="${x.toFixed(1)}" y1="0" y2="${chart.rateTop + chart.rateHeight}"/>`;
}

function dayWords(day: ChartDay): string {
  const counts = `${day.sent === null ? 'unknown' : numberText(day.sent)} sent, ${day.bounced === null ? 'unknown' : numberText(day.bounced)} bounced`;
  const limit = day.limitPpm === null ? '' : `, the limit was ${share(day.limitPpm)}`;
  const rate = day.ratePpm === null ? '' : `; ${share(day.ratePpm)} over 7 days${limit}`;
  const acted = day.actions.map((action) => `; Warmwarden: ${action.kind} (${action.state})`).join('');
  const changed = day.changes.map(
    ({ what, from, to }) => `; others: ${what} ${text(from ?? 'nothing')} → ${text(to ?? 'nothing')}`,
  );
  const began = day.alerts.map(({ rule }) => `; alert ${rule}`);
  return `${day.date}: ${counts}${rate}${acted}${changed.join('')}${began.join('')}`;
}

function limitHeight(limitPpm: Ppm, maxRate: Ppm): number {
  return chart.rateTop + chart.rateHeight * (1 - limitPpm / maxRate);
}

/** Line of the limit over one day: the limit steps on the day of a mode change. */
function limitLine(limitPpm: Ppm, maxRate: Ppm, { x, step }: { readonly x: number; readonly step: number }): Markup {
  const y = limitHeight(limitPpm, maxRate).toFixed(1);
  return html`<line class="limit" x1="${x.toFixed(1)}" x2="${(x + step).toFixed(1)}" y1="${y}" y2="${y}"/>`;
}

function limitLabel(limitPpm: Ppm, maxRate: Ppm): Markup {
  return html`<text x="0" y="${(limitHeight(limitPpm, maxRate) + 4).toFixed(1)}">${share(limitPpm)}</text>`;
}

function summary(days: readonly ChartDay[], limitPpm: Ppm | null): string {
  const last = days.at(-1);
  const rate = last?.ratePpm === null || last === undefined ? 'unknown' : share(last.ratePpm);
  const limit = limitPpm === null ? 'no limit known' : `the limit is ${share(limitPpm)}`;
  return `Emails sent and bounced per day over ${counted(days.length, 'day')}. The bounce rate of the last 7 days is ${rate}; ${limit}. The table below has the numbers.`;
}

function dayTable(days: readonly ChartDay[]): Markup {
  const rateText = (ppm: Ppm | null) => (ppm === null ? '–' : share(ppm));
  const rows = days
    .toReversed()
    .map(({ date, sent, bounced, ratePpm, limitPpm }) => [
      date,
      `${sent ?? '–'}`,
      `${bounced ?? '–'}`,
      rateText(ratePpm),
      rateText(limitPpm),
    ]);
  const headings = ['Day', 'Sent', 'Bounced', 'Rate of 7 days', 'Limit'];
  const shown = table({ caption: 'The mailbox per day, the newest first', className: 'days', headings, rows });
  return html`<details><summary>The numbers, day by day</summary>${shown}</details>`;
}

// The whole fleet per day: emails sent, bounced, number of actions, and number of held mailboxes.

const stripSize = { width: 360, height: 64, gap: 3 } as const;

export function trendPanel(days: readonly TrendDay[]): Markup | string {
  if (days.length === 0) return '';
  const sent = sum(days, 'sent');
  const bounced = sum(days, 'bounced');
  const acted = sum(days, 'acted');
  const rate = sent === 0 ? '' : html` (${share((bounced * 1e6) / sent)})`;
  const mostHeld = Math.max(...days.map((day) => day.held));
  const total = html`${counted(sent, 'email')} sent, ${numberText(bounced)} bounced${rate}, ${counted(acted, 'action')} by Warmwarden${mostHeld === 0 ? '' : `, at most ${counted(mostHeld, 'mailbox', 'mailboxes')} held on one day`}`;
  const rows = days
    .toReversed()
    .map(({ date, ...day }) => [date, ...[day.sent, day.bounced, day.acted, day.held].map(numberText)]);
  const headings = ['Day (UTC)', 'Sent', 'Bounced', 'Acted', 'Held'];
  const shown = table({ caption: 'The fleet per day, the newest first', className: 'days', headings, rows });
  return html`<section class="panel" aria-labelledby="trend"><h2 id="trend">The last ${counted(days.length, 'day')}</h2>
<p class="muted">${total}.</p>
<figure class="chart">
${strip(days, 'sent')}
${bounced + acted === 0 ? '' : strip(days, 'bounced')}
${mostHeld === 0 ? '' : strip(days, 'held')}
<figcaption><span class="key sent">sent per day</span>${bounced + acted === 0 ? '' : html` <span class="key bounced">bounced per day</span> <span class="key act">Warmwarden acted</span>`}${mostHeld === 0 ? '' : html` <span class="key holds">mailboxes held</span>`}</figcaption>
</figure>
<details><summary>As a table</summary>${shown}</details></section>`;
}

function sum(days: readonly TrendDay[], what: 'sent' | 'bounced' | 'acted'): number {
  return days.reduce((total, day) => total + day[what], 0);
}

/** The class is not `held`, because that is the colour of an alarm. */
const strips = {
  sent: { word: 'Sent', className: 'sent' },
  bounced: { word: 'Bounced', className: 'bounced' },
  held: { word: 'Mailboxes held', className: 'holds' },
} as const;

/** Bars of one count on its own scale. The strip of bounces has a line on each day with an action. */
function strip(days: readonly TrendDay[], what: keyof typeof strips): Markup {
  const { word, className } = strips[what];
  const most = Math.max(1, ...days.map((day) => day[what]));
  const step = stripSize.width / days.length;
  const bars = days.map((day, index) => {
    const drawn = day[what] === 0 ? 0 : Math.max(2, (day[what] / most) * stripSize.height);
    const x = index * step;
    const acted =
      what === 'bounced' && day.acted > 0
        ? html`<line class="act" x1="${(x + step / 2).toFixed(1)}" x2="${(x + step / 2).toFixed(1)}" y1="0" y2="${stripSize.height}"/>`
        : '';
    return html`<g><title>${day.date}: ${numberText(day.sent)} sent, ${numberText(day.bounced)} bounced, ${counted(day.acted, 'action')}, ${numberText(day.held)} held</title><rect class="${className}" x="${x.toFixed(1)}" y="${(stripSize.height - drawn).toFixed(1)}" width="${(step - stripSize.gap).toFixed(1)}" height="${drawn.toFixed(1)}"/>${acted}</g>`;
  });
  return html`<svg viewBox="0 0 ${stripSize.width} ${stripSize.height}" role="img" aria-label="${word} per day, at most ${numberText(most)}">${bars}</svg>`;
}
