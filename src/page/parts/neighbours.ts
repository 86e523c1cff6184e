// From one page of a long list to its neighbours.
import { html } from 'hono/html';
import type { Markup } from './elements.ts';

export interface PageOf {
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
