// Signing in with a token, and signing out.
import type { Context, Hono } from 'hono';
import { createRecognize, mayRead } from './access/auth.ts';
import { browserKeyOf, clearBrowserKey, setBrowserKey } from './access/browser-key.ts';
import type { Sessions } from './access/sessions.ts';
import { tooManyWrong, type WrongTokens } from './access/wrong-tokens.ts';
import { signInPage } from './page/layout.ts';
import { readQuery, upTo } from './query.ts';
import { formOf, noQuery, ownFormOf, queryOf, refuse } from './refusals.ts';
import type { AccessParts } from './route-parts.ts';

export interface SignInParts extends AccessParts {
  readonly signedIn: Sessions;
  readonly wrongTokens: WrongTokens;
}

/** Of an address to come back to. */
const maxPathLength = 4_000;
const signInParameters = { to: upTo(maxPathLength) };

export function addSignIn(app: Hono, parts: SignInParts): void {
  const { auth, world, publicUrl, signedIn } = parts;
  app.get('/sign-in', (c) => {
    const query = readQuery(signInParameters, queryOf(c));
    if ('wrong' in query) return refuse(c, 'bad_request', query.wrong);
    if (auth() === 'none') return c.redirect('/', 303);
    return c.html(signInPage({ to: pathOnly(query.read.to ?? '/'), problem: null }));
  });
  app.post('/sign-in', noQuery, async (c) => {
    const sent = await formOf(c, publicUrl);
    return 'refused' in sent ? sent.refused : signIn(c, sent.form, parts);
  });
  app.post('/sign-out', noQuery, async (c) => {
    const sent = await ownFormOf(c, publicUrl);
    if ('refused' in sent) return sent.refused;
    const key = browserKeyOf(c, c.get('cookie'));
    if (key !== null) await signedIn.end(key);
    clearBrowserKey(c, c.get('cookie'));
    world.log.info({ operator: c.get('asker')?.name }, 'signed out');
    return c.redirect('/sign-in', 303);
  });
}

async function signIn(c: Context, form: URLSearchParams, parts: SignInParts) {
  const { auth, world, signedIn, wrongTokens } = parts;
  const known = auth();
  const to = pathOnly(form.get('to') ?? '/');
  if (known === 'none') return c.redirect(to, 303);
  const presented = (form.get('token') ?? '').trim();
  const token = presented === '' ? null : createRecognize(known.tokens)(presented);
  const { address } = c.get('client');
  const again = (problem: string, status: 401 | 403 | 429) => c.html(signInPage({ to, problem }), status);
  if (token === null) {
    const waitSeconds = await wrongTokens.slow(address);
    if (waitSeconds === null) return again('This token is wrong.', 401);
    c.header('Retry-After', String(waitSeconds));
    return again(tooManyWrong(waitSeconds), 429);
  }
  const { name, role } = token;
  if (!mayRead(role, '/')) return again(`The token ${name} may only read /metrics.`, 403);
  // Another key than before: whoever planted the old one knows nothing of this session.
  const before = browserKeyOf(c, c.get('cookie'));
  if (before !== null) await signedIn.end(before);
  setBrowserKey(c, await signedIn.start(token), c.get('cookie'));
  world.log.info({ operator: name, address }, 'signed in');
  return c.redirect(to, 303);
}

/** A path on this server; `/` for whatever would lead elsewhere. */
function pathOnly(to: string): string {
  const base = 'http://warmwarden.invalid';
  if (!/^\/(?![/\\])/.test(to) || !URL.canParse(to, base)) return '/';
  const { origin, pathname, search, hash } = new URL(to, base);
  return origin === base && !pathname.startsWith('//') ? `${pathname}${search}${hash}` : '/';
}
