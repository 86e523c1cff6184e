// The frame of every page: head, header, navigation. The page is readable without its scripts.

import { html } from 'hono/html';
import type { EpochMs } from '../../core/time.ts';
import type { Markup } from './parts/elements.ts';

/** Hidden field that proves for which browser a form was made. */
export const formTokenField = 'form_token';

export interface Visitor {
  readonly name: string | null;
  readonly mayOperate: boolean;
  /** True if it sees a part of the fleet: views of the whole are not offered. */
  readonly isLimited: boolean;
  /** Form token of a signed-in browser, or null if there is no session to end. */
  readonly signOutToken: string | null;
}

interface LiveFrame {
  readonly now: EpochMs;
  readonly still: boolean;
  readonly address: string;
}

interface LayoutParts {
  readonly title: string;
  readonly body: Markup | readonly Markup[];
  readonly live: LiveFrame | null;
  readonly banner?: Markup | string;
  readonly commands?: readonly Markup[];
  /** True if the page will change soon, without a change of the fleet. */
  readonly isMoving?: boolean;
  readonly visitor: Visitor | null;
}

const places = [
  ['/', 'Fleet'],
  ['/groups', 'Groups'],
  ['/alerts', 'Alerts'],
  ['/activity', 'Activity'],
  ['/silences', 'Silences'],
  ['/recipes', 'Recipes'],
  ['/runbooks', 'Runbooks'],
] as const;

/** The view that shows what is not a mailbox of one client. */
const ofAll = '/recipes';

export function layout({ title, body, live, visitor, banner, commands = [], isMoving = false }: LayoutParts): Markup {
  const stream = live === null || live.still ? '' : html` data-events="/events"`;
  return html`<!doctype html>
<html lang="en"${stream}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title}</title>
<link rel="icon" href="/assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/assets/style.css">
<script src="/assets/local-times.js" defer></script>
<script src="/assets/live.js" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="top"><div class="wrap">
<a class="brand" href="/"><img src="/assets/icon.svg" alt="" width="24" height="24">Warmwarden</a>
<nav class="places" aria-label="Views">${places.filter(([path]) => !visitor?.isLimited || path !== ofAll).map(([path, name]) => html`<a href="${path}"${isHere(path, live) ? html` aria-current="page"` : ''}>${name}</a>`)}</nav>
${live ? clock(live) : ''}
${visitor?.signOutToken ? signOut(visitor.name, visitor.signOutToken) : ''}
</div></header>
<p id="broken" class="broken wrap" role="alert" hidden><span></span> <span aria-hidden="true"></span>${live ? html` <a href="${live.address}">Reload the page</a>` : ''}</p>
<p id="news" class="unseen" role="status"></p>
${banner ?? ''}
${commands.length > 0 ? html`<nav class="do commands wrap" id="commands" aria-label="Commands">${commands}</nav>` : ''}
<main id="main" class="wrap"${isMoving ? html` data-moving` : ''}>${body}</main>
</body>
</html>
`;
}

function signOut(name: string | null, token: string): Markup {
  return html`<form class="clock" method="post" action="/sign-out"><span>${name}</span>
<input type="hidden" name="${formTokenField}" value="${token}"> <button type="submit">Sign out</button></form>`;
}

/** Views that an address below another path marks as the current one. */
const viewOf: Readonly<Record<string, string>> = { mailboxes: '/', runs: '/recipes' };

function isHere(path: string, live: LiveFrame | null): boolean {
  const [, first = ''] = /^\/([^/?]*)/.exec(live?.address ?? '') ?? [];
  return live !== null && path === (viewOf[first] ?? `/${first}`);
}

function clock({ now, still, address }: LiveFrame): Markup {
  const iso = new Date(now).toISOString();
  const toggle = still
    ? html`<a href="${address}">Resume live updates</a>`
    : html`<a href="${address}${address.includes('?') ? '&' : '?'}refresh=off">Pause live updates</a>`;
  return html`<p class="clock"><span>As of <time id="as-of" datetime="${iso}" title="${iso}" data-show="clock">${iso.slice(11, 19)} UTC</time></span> ${toggle}</p>`;
}

export function noticePage(title: string, sentence: string): Markup {
  return layout({
    title: `${title} · Warmwarden`,
    live: null,
    visitor: null,
    body: html`<section class="headline unknown"><h1>${title}</h1><p>${sentence}</p><p><a href="/">To the fleet</a></p></section>`,
  });
}

/** The sign-in page. It names no file path of this machine, because its readers have no token. */
export function signInPage(to: string, problem: string | null): Markup {
  return layout({
    title: 'Sign in · Warmwarden',
    live: null,
    visitor: null,
    body: html`<section class="headline unknown"><h1>Sign in</h1>
${problem === null ? '' : html`<p class="bad" role="alert" id="problem">${problem}</p>`}
<form class="command" method="post" action="/sign-in">
<input type="hidden" name="to" value="${to}">
<input class="unseen" type="text" name="username" value="Warmwarden" autocomplete="username" tabindex="-1" aria-hidden="true" readonly>
<p class="field"><label for="token">Token</label>
<input id="token" name="token" type="password" autocomplete="current-password" required maxlength="200" autofocus${problem === null ? '' : html` aria-describedby="problem"`}></p>
<p><button class="primary" type="submit">Sign in</button></p>
</form>
<p class="muted">An administrator makes a token with <code>warmwarden token new NAME --role viewer</code>, or with <code>--role operator</code> for people who operate Warmwarden.</p></section>`,
  });
}
