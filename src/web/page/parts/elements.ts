// Small pieces of markup that every page shares: times, state words, links, safe text.

import { html } from 'hono/html';
import type { Severity } from '../../../core/alert.ts';
import type { GuardState } from '../../../core/mailbox.ts';
import type { EpochMs } from '../../../core/time.ts';
import { duration, visibleText } from '../../../core/wording/phrases.ts';
import { stateWords } from '../../../core/wording/states.ts';

export type Markup = ReturnType<typeof html>;

/** What each state means, for those who ask. */
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

/** Text that others wrote, for between tags and in attributes: html escapes it, this shows what hides. */
export const text = visibleText;

/** "7 min ago", with the moment itself in the title. */
export function ago(at: EpochMs | null, now: EpochMs): Markup {
  if (at === null) return html`<span class="muted">never</span>`;
  const iso = new Date(at).toISOString();
  const words = at > now ? `in ${duration(at - now)}` : `${duration(now - at)} ago`;
  return html`<time datetime="${iso}" title="${iso}" data-show="ago">${words}</time>`;
}

/** "for 7 min", with the moment it began in the title. */
export function lasting(since: EpochMs, now: EpochMs): Markup {
  const iso = new Date(since).toISOString();
  return html`<time datetime="${iso}" title="since ${iso}" data-show="for">for ${duration(now - since)}</time>`;
}

/** `2026-03-20 10:02 UTC`; a script shows it in the zone of the reader. */
export function moment(at: EpochMs): Markup {
  const iso = new Date(at).toISOString();
  return html`<time datetime="${iso}" data-show="moment">${iso.slice(0, 16).replace('T', ' ')} UTC</time>`;
}

/** A text whose addresses may break before the @ rather than anywhere. */
export function breakable(written: string): Markup {
  const [first = '', ...rest] = text(written).split('@');
  return html`${first}${rest.map((piece) => html`<wbr>@${piece}`)}`;
}

/** Sentences in which commands are between backticks. */
export function prose(written: string): Markup {
  const pieces = text(written).split('`');
  if (pieces.length % 2 === 0) return html`${pieces.join('`')}`;
  return html`${pieces.map((piece, index) => (index % 2 === 0 ? html`${piece}` : html`<code>${piece}</code>`))}`;
}

/** "7 min", for a column that says it is an age. */
export function age(at: EpochMs | null, now: EpochMs): Markup {
  if (at === null) return html`<span class="muted">never read</span>`;
  const iso = new Date(at).toISOString();
  return html`<time datetime="${iso}" title="read at ${iso}" data-show="age">${duration(now - at)}</time>`;
}

/** The state as a coloured word. `isEmergency`: its newest emails bounced so often that it is an emergency in any mode. */
export function stateBadge(state: GuardState, isEmergency = false): Markup {
  return html`<span class="badge ${state}" title="${stateMeanings[state]}">${stateWords[state]}${isEmergency ? ', emergency' : ''}</span>`;
}

export function severityBadge(severity: Severity): Markup {
  return html`<span class="badge ${severity}">${severity}</span>`;
}

// From one page of a long list to its neighbours.

interface PageOf {
  /** From 1. */
  readonly page: number;
  readonly pages: number;
}

/** Nothing where there is only one page. */
export function pageLinks({ page, pages }: PageOf, pathOf: (page: number) => string): Markup | string {
  if (pages === 1) return '';
  const link = (target: number, word: string) =>
    target < 1 || target > pages
      ? html`<span class="muted">${word}</span>`
      : html`<a href="${pathOf(target)}">${word}</a>`;
  return html`<nav class="pages" aria-label="Pages">${link(page - 1, '← Before')} <span>Page ${page} of ${pages}</span> ${link(page + 1, 'After →')}</nav>`;
}
