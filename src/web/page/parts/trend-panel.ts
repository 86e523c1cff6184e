// The whole fleet a day: emails sent, bounced, how often Warmwarden acted, and how many mailboxes it held.
import { html } from 'hono/html';
import { counted, numberText, share } from '../../../core/wording/phrases.ts';
import type { TrendDay } from '../../overview/fleet-sums.ts';
import type { Markup } from './elements.ts';

/** In units of the drawing. */
const chart = { width: 360, height: 64, gap: 3 } as const;

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
    .map(
      ({ date, ...day }) =>
        html`<tr><th scope="row">${date}</th><td>${numberText(day.sent)}</td><td>${numberText(day.bounced)}</td><td>${numberText(day.acted)}</td><td>${numberText(day.held)}</td></tr>`,
    );
  return html`<section class="panel" aria-labelledby="trend"><h2 id="trend">The last ${counted(days.length, 'day')}</h2>
<p class="muted">${total}.</p>
<figure class="chart">
${strip(days, 'sent')}
${bounced + acted === 0 ? '' : strip(days, 'bounced')}
${mostHeld === 0 ? '' : strip(days, 'held')}
<figcaption><span class="key sent">sent per day</span>${bounced + acted === 0 ? '' : html` <span class="key bounced">bounced per day</span> <span class="key act">Warmwarden acted</span>`}${mostHeld === 0 ? '' : html` <span class="key holds">mailboxes held</span>`}</figcaption>
</figure>
<details><summary>As a table</summary><table class="days"><caption class="unseen">The fleet per day, the newest first</caption>
<thead><tr><th scope="col">Day (UTC)</th><th scope="col">Sent</th><th scope="col">Bounced</th><th scope="col">Acted</th><th scope="col">Held</th></tr></thead><tbody>${rows}</tbody></table></details></section>`;
}

function sum(days: readonly TrendDay[], what: 'sent' | 'bounced' | 'acted'): number {
  return days.reduce((total, day) => total + day[what], 0);
}

/** Not `held`: that is the colour of an alarm. */
const strips = {
  sent: { word: 'Sent', className: 'sent' },
  bounced: { word: 'Bounced', className: 'bounced' },
  held: { word: 'Mailboxes held', className: 'holds' },
} as const;

/** Bars of one count on a scale of its own; on the bounces, a line where Warmwarden acted. */
function strip(days: readonly TrendDay[], what: keyof typeof strips): Markup {
  const { word, className } = strips[what];
  const most = Math.max(1, ...days.map((day) => day[what]));
  const step = chart.width / days.length;
  const bars = days.map((day, index) => {
    const drawn = day[what] === 0 ? 0 : Math.max(2, (day[what] / most) * chart.height);
    const x = index * step;
    const acted =
      what === 'bounced' && day.acted > 0
        ? html`<line class="act" x1="${(x + step / 2).toFixed(1)}" x2="${(x + step / 2).toFixed(1)}" y1="0" y2="${chart.height}"/>`
        : '';
    return html`<g><title>${day.date}: ${numberText(day.sent)} sent, ${numberText(day.bounced)} bounced, ${counted(day.acted, 'action')}, ${numberText(day.held)} held</title><rect class="${className}" x="${x.toFixed(1)}" y="${(chart.height - drawn).toFixed(1)}" width="${(step - chart.gap).toFixed(1)}" height="${drawn.toFixed(1)}"/>${acted}</g>`;
  });
  return html`<svg viewBox="0 0 ${chart.width} ${chart.height}" role="img" aria-label="${word} per day, at most ${numberText(most)}">${bars}</svg>`;
}
