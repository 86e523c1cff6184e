// Small pieces of markup that all pages share: times, state words, links, safe text.

import { html } from 'hono/html';
import type { Severity } from '../../../core/alert.ts';
import type { GuardState } from '../../../core/mailbox.ts';
import type { EpochMs } from '../../../core/time.ts';
import { duration, visibleText } from '../../../core/wording/phrases.ts';
import { stateWords } from '../../../core/wording/states.ts';

export type Markup = ReturnType<typeof html>;

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

/**
 * Makes invisible characters visible in text from other sources. `html` escapes the result, between tags and in
 * attributes.
 */
export const text = visibleText;

/** Age such as "7 min ago", with the moment in the title. */
export function ago(at: EpochMs | null, now: EpochMs): Markup {
  if (at === null) return html`<span class="muted">never</span>`;
  const iso = new Date(at).toISOString();
  const words = at > now ? `in ${duration(at - now)}` : `${duration(now - at)} ago`;
  return html`<time datetime="${iso}" title="${iso}" data-show="ago">${words}</time>`;
}

/** Duration such as "for 7 min", with its beginning in the title. */
export function lasting(since: EpochMs, now: EpochMs): Markup {
  const iso = new Date(since).toISOString();
  return html`<time datetime="${iso}" title="since ${iso}" data-show="for">for ${duration(now - since)}</time>`;
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
  const iso = new Date(at).toISOString();
  return html`<time datetime="${iso}" title="read at ${iso}" data-show="age">${duration(now - at)}</time>`;
}

/** State as a coloured word. `isEmergency`: the bounce rate of the newest emails is an emergency in any mode. */
export function stateBadge(state: GuardState, isEmergency = false): Markup {
  return html`<span class="badge ${state}" title="${stateMeanings[state]}">${stateWords[state]}${isEmergency ? ', emergency' : ''}</span>`;
}

export function severityBadge(severity: Severity): Markup {
  return html`<span class="badge ${severity}">${severity}</span>`;
}

// Links from one page of a long list to its neighbours.

interface PageOf {
  /** Number of the page, from 1. */
  readonly page: number;
  readonly pages: number;
}

/** Links to the neighbouring pages, or an empty text if there is only one page. */
export function pageLinks({ page, pages }: PageOf, pathOf: (page: number) => string): Markup | string {
  if (pages === 1) return '';
  const link = (target: number, word: string) =>
    target < 1 || target > pages
      ? html`<span class="muted">${word}</span>`
      : html`<a href="${pathOf(target)}">${word}</a>`;
  return html`<nav class="pages" aria-label="Pages">${link(page - 1, '← Before')} <span>Page ${page} of ${pages}</span> ${link(page + 1, 'After →')}</nav>`;
}
