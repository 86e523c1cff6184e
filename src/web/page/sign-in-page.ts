// The form to sign in with a token: shown instead of a page that needs one, where the reader then gets to.
import { html } from 'hono/html';
import { layout } from './layout.ts';
import type { Markup } from './parts/elements.ts';

export interface SignInPageParts {
  /** The path to show once signed in. */
  readonly to: string;
  /** Why the last try failed; null: there was none. */
  readonly problem: string | null;
}

/** The sign-in page. It names no path of this machine, because its readers have no token. */
export function signInPage({ to, problem }: SignInPageParts): Markup {
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
