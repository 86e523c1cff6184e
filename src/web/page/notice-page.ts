// A page with one sentence: not found, not allowed, gone wrong.
import { html } from 'hono/html';
import { layout } from './layout.ts';
import type { Markup } from './parts/elements.ts';

export function noticePage(title: string, sentence: string): Markup {
  return layout({
    title: `${title} · Warmwarden`,
    live: null,
    visitor: null,
    body: html`<section class="headline unknown"><h1>${title}</h1><p>${sentence}</p><p><a href="/">To the fleet</a></p></section>`,
  });
}
