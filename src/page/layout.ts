// The frame of every page: head, header, footer. The page asks for itself again; its one script only shows local times.
import { html } from 'hono/html';
import type { EpochMs } from '../model/time.ts';
import type { Markup } from './elements.ts';

const refreshSeconds = 10;

export interface LayoutParts {
  readonly title: string;
  readonly body: Markup | readonly Markup[];
  /** null: a page that does not change. */
  readonly live: { readonly now: EpochMs; readonly still: boolean; readonly path: string } | null;
}

export function layout({ title, body, live }: LayoutParts): Markup {
  const refresh = live && !live.still;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
${refresh ? html`<meta http-equiv="refresh" content="${refreshSeconds}">` : ''}
<title>${title}</title>
<link rel="icon" href="/assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/assets/style.css">
<script src="/assets/local-times.js" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="top"><div class="wrap">
<a class="brand" href="/"><img src="/assets/icon.svg" alt="" width="24" height="24">Warmwarden</a>
${live ? clock(live) : ''}
</div></header>
<main id="main" class="wrap">${body}</main>
</body>
</html>
`;
}

function clock(live: { readonly now: EpochMs; readonly still: boolean; readonly path: string }): Markup {
  const iso = new Date(live.now).toISOString();
  const toggle = live.still
    ? html`<a href="${live.path}">Resume live updates</a>`
    : html`<a href="${live.path}${live.path.includes('?') ? '&' : '?'}refresh=off">Pause live updates</a>`;
  return html`<p class="clock"><span>${live.still ? 'As of ' : ''}<time datetime="${iso}" title="${iso}" data-show="clock">${iso.slice(11, 19)} UTC</time></span> ${toggle}</p>`;
}
