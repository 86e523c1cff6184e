// Small pieces of markup that all pages share: times, state words, links, safe text.

import { html } from 'hono/html';
import type { Severity } from '../../../core/alert-rules.ts';
import type { GuardState } from '../../../core/mailbox.ts';
import type { Ppm } from '../../../core/policy.ts';
import type { EpochMs } from '../../../core/time.ts';
import type { Verdict } from '../../../core/verdict.ts';
import { duration, numberText, percentText, visibleText } from '../../../core/wording/phrases.ts';
import { stateText } from '../../../core/wording/states.ts';

export type Markup = ReturnType<typeof html>;
export type Inside = Markup | string | readonly (Markup | string)[];

/** Meaning of each state, shown as a tooltip. */
const stateMeanings: Readonly<Record<GuardState, string>> = {
  ok: 'below its bounce limit',
  near_limit: 'close to its bounce limit; Warmwarden has not acted',
  over_limit: 'over its bounce limit; Warmwarden does not act: too few bounces, or the configuration says so',
  held: 'over its bounce limit; Warmwarden has not acted yet',
  recovering: 'Warmwarden switched it to recovery mode',
  paused_by_guard: 'Warmwarden paused its warm-up',
  paused_by_others: 'a person or another tool paused its warm-up',
  not_running: 'its warm-up is finished or has not started, or the mailbox is disconnected',
  no_warmup: 'it is listed, and the API has no warm-up of it',
  not_judged: 'the guard cannot judge it: data is missing, old or not understood',
};

/** Makes invisible characters visible in text from other sources. `html` escapes the result. */
export const text = visibleText;

/** Element whose words a script updates (`localTimes`). */
function timeMarkup(at: EpochMs, show: 'ago' | 'for' | 'age', words: string, what: string): Markup {
  const iso = new Date(at).toISOString();
  return html`<time datetime="${iso}" title="${what}${iso}" data-show="${show}">${words}</time>`;
}

/** Distance such as "7 min ago" or "in 7 min", with the moment in the title. */
export function ago(at: EpochMs | null, now: EpochMs): Markup {
  if (at === null) return html`<span class="muted">never</span>`;
  return timeMarkup(at, 'ago', at > now ? `in ${duration(at - now)}` : `${duration(now - at)} ago`, '');
}

/** Duration such as "for 7 min", with its beginning in the title. */
export function lasting(since: EpochMs, now: EpochMs): Markup {
  return timeMarkup(since, 'for', `for ${duration(now - since)}`, 'since ');
}

/** Moment such as `2026-03-20 10:02 UTC`; a script shows it in the reader's time zone. */
export function moment(at: EpochMs): Markup {
  const iso = new Date(at).toISOString();
  return html`<time datetime="${iso}" data-show="moment">${iso.slice(0, 16).replace('T', ' ')} UTC</time>`;
}

/** Text in which an address breaks before the @ and not elsewhere. */
export function breakable(written: string): Markup {
  const [first = '', ...rest] = text(written).split('@');
  return html`${first}${rest.map((piece) => html`<wbr>@${piece}`)}`;
}

/** Sentences with commands between backticks. */
export function prose(written: string): Markup {
  const pieces = text(written).split('`');
  if (pieces.length % 2 === 0) return html`${pieces.join('`')}`;
  return html`${pieces.map((piece, index) => (index % 2 === 0 ? html`${piece}` : html`<code>${piece}</code>`))}`;
}

/** Age such as "7 min", for a column whose heading says that it is an age. */
export function age(at: EpochMs | null, now: EpochMs): Markup {
  if (at === null) return html`<span class="muted">never read</span>`;
  return timeMarkup(at, 'age', duration(now - at), 'read at ');
}

/** State as a coloured word. `verdict`: of the mailbox, or null for the state of many. */
export function stateBadge(state: GuardState, verdict: Verdict | null): Markup {
  const judged = verdict && { sent: verdict.sent, days: verdict.windowDays, isEmergency: verdict.emergency !== null };
  return html`<span class="badge ${state}" title="${stateMeanings[state]}">${stateText(state, judged)}</span>`;
}

export function severityBadge(severity: Severity): Markup {
  return html`<span class="badge ${severity}">${severity}</span>`;
}

export function pageLinks(
  { page, pages }: { readonly page: number; readonly pages: number },
  pathOf: (page: number) => string,
): Markup | '' {
  if (pages === 1) return '';
  const link = (target: number, word: string) =>
    target < 1 || target > pages
      ? html`<span class="muted">${word}</span>`
      : html`<a href="${pathOf(target)}">${word}</a>`;
  return html`<nav class="pages" aria-label="Pages">${link(page - 1, '← Before')} <span>Page ${page} of ${pages}</span> ${link(page + 1, 'After →')}</nav>`;
}

export function pathTo(path: string, parameters: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(parameters).flatMap(([name, value]) =>
    value ? [[name, String(value)] as [string, string]] : [],
  );
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}

interface Choice {
  readonly name: string;
  readonly label: string;
  readonly all: string;
  readonly values: readonly string[];
  readonly chosen: string | undefined;
}

export function choice({ name, label, all, values, chosen }: Choice): Markup | '' {
  const offered = [...new Set(chosen ? [...values, chosen] : values)];
  if (offered.length === 0) return '';
  const option = (value: string) =>
    html`<option value="${value}"${value === chosen && html` selected`}>${text(value)}</option>`;
  return html`<select name="${name}" aria-label="${label}"><option value="">${all}</option>${offered.map(option)}</select>`;
}

export function chip({
  path,
  word,
  total,
  isChosen,
  tone = 'all',
}: {
  readonly path: string;
  readonly word: string;
  readonly total?: number;
  readonly isChosen: boolean;
  readonly tone?: string;
}): Markup {
  return html`<li><a class="chip ${tone}" href="${path}"${isChosen && html` aria-current="true"`}>${word}${total !== undefined && html` <b>${numberText(total)}</b>`}</a></li>`;
}

export function panel(id: string, heading: Markup | string, body: Inside): Markup {
  return html`<section class="panel" aria-labelledby="${id}"><h2 id="${id}">${heading}</h2>
${body}</section>`;
}

export function headingWith(heading: string, total: number): Markup {
  return html`${heading} <span class="count">${numberText(total)}</span>`;
}

interface PageTable {
  readonly caption: string;
  readonly className: string;
  readonly headings: readonly string[];
  readonly rows: readonly (readonly Inside[])[];
}

export function table({ caption, className, headings, rows }: PageTable): Markup {
  return html`<table class="${className}"><caption class="unseen">${caption}</caption>
<thead><tr>${headings.map((heading) => html`<th scope="col">${heading}</th>`)}</tr></thead>
<tbody>${rows.map(([first, ...cells]) => html`<tr><th scope="row">${first}</th>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>`)}</tbody></table>`;
}

/** Table that becomes cards on a phone. Roles are explicit, because that layout removes those of the table. */
export function cardTable(id: string, caption: string, headings: readonly Markup[], rows: readonly Markup[]): Markup {
  return html`<table role="table"><caption class="unseen">${caption}</caption>
<thead role="rowgroup"><tr role="row">${headings}</tr></thead>
<tbody role="rowgroup" id="${id}">${rows}</tbody></table>`;
}

export function cell(heading: string, content: Inside, className = ''): Markup {
  return html`<td role="cell" class="${className}" data-heading="${heading}">${content}</td>`;
}

/** Note in place of what the store holds, while it can't be read. */
export function unreadable(what: string): Markup {
  return html`<p class="bad">Warmwarden cannot read ${what} at the moment. The log says why.</p>`;
}

export function muted(words: string): Markup {
  return html`<span class="muted">${words}</span>`;
}

interface RatedRow {
  readonly state: GuardState;
  readonly verdict: Verdict | null;
  readonly ratePpm: Ppm | null;
}

/** Position of the limit on the meter, in percent of its width. Values to its right exceed the limit. */
const limitAtPercent = 66;

/** Rate such as "4 of 210 = 1.9%, limit 1%", with a meter whose tick is the limit. */
export function rateCell({ ratePpm, verdict, state }: RatedRow): Markup {
  if (ratePpm === null || verdict === null) return muted('–');
  const { limitPpm } = verdict;
  const { bounced, sent } = verdict.emergency ?? verdict;
  const counts = html`${numberText(bounced)} of ${numberText(sent)} =`;
  if (limitPpm === null)
    return html`${counts} <b>${percentText(ratePpm)}</b> <span class="muted">no limit known</span>`;
  const width = limitPpm === 0 ? 100 : Math.min(100, (ratePpm / limitPpm) * limitAtPercent);
  const over = ratePpm > limitPpm;
  const tone = over ? 'over' : state === 'near_limit' ? 'near' : '';
  return html`<span class="figures"><span>${counts} <b class="${over ? 'bad' : ''}">${percentText(ratePpm)}</b></span> <span class="muted">limit ${percentText(limitPpm)}</span></span>
<svg class="meter ${tone}" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true"><rect class="track" width="100" height="6" rx="1"/><rect class="value" width="${width.toFixed(1)}" height="6" rx="1"/><rect class="limit" x="${limitAtPercent}" width="1.5" height="6"/></svg>`;
}
