// Access control by token, session, or Host name if no tokens are configured. Also sign-in and sign-out.
import type { HttpBindings } from '@hono/node-server';
import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context, Hono } from 'hono';
import type { AlertMatch } from '../../core/alert.ts';
import type { Network } from '../../core/egress.ts';
import { itself } from '../../core/operator-command.ts';
import { layout, signInPage, type Visitor } from '../page/layout.ts';
import type { Markup } from '../page/parts/elements.ts';
import { readQuery, upTo } from '../query.ts';
import { noQuery, operatorsOnly, queryOf, refuse, wantsPage } from '../refusals.ts';
import { pathBehind } from '../rim.ts';
import type { AccessParts } from '../route-parts.ts';
import { bareAddress, trustIn } from './addresses.ts';
import {
  authenticate,
  isOwner,
  isOwnHost,
  mayRead,
  type ProxySignIn,
  type Role,
  recognize,
  type Token,
} from './auth.ts';
import { beyondLimits, isLimited, isOpenToLimited } from './limits.ts';
import { tooManyWrong, type WrongTokens } from './rates.ts';
import { browserKeyOf, formOf, formTokenOf, ownFormOf, Sessions, setCookieOf } from './sessions.ts';

export interface Asker {
  readonly name: string | null;
  readonly role: Role;
  /** The asker sees only what this matches; null: all of the fleet. */
  readonly limits: AlertMatch | null;
  /** True if a session identified the request, and not its own token. */
  readonly signedIn: boolean;
}

interface RemoteClient {
  readonly address: string | undefined;
  /** True if the client uses https, as far as the server or a trusted proxy knows. */
  readonly secure: boolean;
}

declare module 'hono' {
  interface ContextVariableMap {
    client: RemoteClient;
    asker: Asker | undefined;
  }
}

const openPaths: readonly string[] = ['/healthz', '/readyz', '/openapi.json', '/sign-in'];

/** True for paths without a token. Recipes have keys of their own, and the sign-in form needs style and scripts. */
function isOpen(path: string): boolean {
  return openPaths.includes(path) || path.startsWith('/v1/') || path.startsWith('/assets/');
}

export function addAccess(app: Hono, parts: AccessParts, wrongTokens: WrongTokens): void {
  const { world, pathPrefix } = parts;
  const sessions = new Sessions(parts.sessionKey, world, parts.auth);
  let isNoted = false;
  const noteUntrusted = (address: string) => {
    if (!isNoted)
      world.log.warn({ address }, 'ignored a user header: server.auth.proxy_header does not trust its sender');
    isNoted = true;
  };
  app.use(async (c, next) => {
    const client = clientOf(c, parts.trustedProxies());
    c.set('client', client);
    c.set('cookie', { secure: client.secure, pathPrefix });
    if (isOpen(c.req.path)) return next();
    const auth = isOwner(c) ? 'none' : parts.auth();
    if (auth === 'none') {
      if (!isOwner(c) && !isOurHost(c, parts)) return refuse(c, 'unknown_host', unknownHost);
      c.set('asker', { name: null, role: 'operator', limits: null, signedIn: false });
      return next();
    }
    // The user of a proxy comes first: some proxies add an Authorization of their own.
    const user = auth.proxyHeader ? userOf(c, auth.proxyHeader, auth.tokens, noteUntrusted) : null;
    if (user && 'refused' in user) return refuse(c, 'not_allowed', user.refused);
    const authorization = c.req.header('authorization');
    const key = user === null && authorization === undefined ? browserKeyOf(c) : null;
    const token = user ?? (key === null ? authenticate(auth.tokens, authorization) : sessions.tokenOf(c));
    if (token === null) return unauthorized(c, parts, wrongTokens);
    const { name, role, limits = null } = token;
    if (!mayRead(role, c.req.path)) return refuse(c, 'not_allowed', `The token ${name} may only read /metrics.`);
    c.set('asker', { name, role, limits, signedIn: key !== null });
    if (limits === null || isOpenToLimited(c)) return next();
    const isCommand = c.req.method === 'POST' && role !== 'operator';
    return refuse(c, 'not_allowed', isCommand ? operatorsOnly : beyondLimits);
  });
  addSignIn(app, parts, sessions, wrongTokens);
}

// People who signed in at a proxy in front of Warmwarden, such as oauth2-proxy or Authelia.

/** A character that does not show could make the name look like another one in the audit log. */
const userPattern = /^(?:[^\p{C}\p{Z}\p{DI},]| ){1,200}$/u;

/** Token that stands for the user of a trusted proxy, a refusal, or null if no proxy names a user. */
function userOf(
  c: Context,
  { user, groups, roles, trusted }: ProxySignIn,
  tokens: readonly Token[],
  noteUntrusted: (address: string) => void,
) {
  const name = headerText(c, user);
  if (name === '') return null;
  const { address = 'unknown' } = getConnInfo(c).remote;
  if (!trustIn(trusted)(address)) {
    noteUntrusted(address);
    return null;
  }
  const others = [itself, ...tokens.map((token) => token.name)];
  if (!userPattern.test(name) || others.some((other) => other.toLowerCase() === name.toLowerCase()))
    return { refused: `The proxy sent a name in ${user} that is not one user's, or is a token's.` };
  const { incoming }: HttpBindings = c.env;
  if ((incoming.headersDistinct[groups.toLowerCase()] ?? []).length > 1)
    return { refused: `The proxy sent several headers ${groups}: it must replace those of the browser.` };
  const own = listOf(headerText(c, groups));
  const found = roles.find(({ group }) => own.includes(group));
  return found ? { ...found, name } : { refused: `No group of ${name} has a role in server.auth.proxy_header.` };
}

/** Value of a header. Node.js reads its bytes as Latin-1. */
function headerText(c: Context, name: string): string {
  return Buffer.from(c.req.header(name) ?? '', 'latin1')
    .toString()
    .trim();
}

export function visitorOf(c: Context): Visitor {
  const asker = c.get('asker');
  const key = asker?.signedIn ? browserKeyOf(c) : null;
  return {
    name: asker?.name ?? null,
    mayOperate: asker?.role === 'operator',
    isLimited: isLimited(c),
    signOutToken: key === null ? null : formTokenOf(key),
  };
}

export function framed(c: Context, title: string, body: Markup): Markup {
  return layout({ title: `${title} · Warmwarden`, body, live: null, visitor: visitorOf(c) });
}

export function byOf(c: Context): string {
  return c.get('asker')?.name ?? 'somebody on the page';
}

const unknownHost =
  'Without tokens, Warmwarden answers only to localhost, an IP address, and the names in server.listen, server.public_url and server.allowed_hosts.';

function isOurHost(c: Context, { host, publicUrl, allowedHosts }: AccessParts): boolean {
  const asked = c.req.header('host');
  return (
    isOwnHost(asked, host, allowedHosts()) || (publicUrl !== null && asked?.toLowerCase() === new URL(publicUrl).host)
  );
}

/** Client of a request, by its own connection or by the headers of a trusted reverse proxy. */
function clientOf(c: Context, trusted: readonly Network[]): RemoteClient {
  const { address: remote } = getConnInfo(c).remote;
  const encrypted = c.req.url.startsWith('https:');
  const trusts = trustIn(trusted);
  if (!trusts(remote)) return { address: remote, secure: encrypted };
  // Each proxy appends the address of its client: entries before the last untrusted one are only claims.
  const hops = listOf(c.req.header('x-forwarded-for'));
  const address = hops.findLast((hop) => !trusts(hop)) ?? hops[0] ?? remote;
  const proto = listOf(c.req.header('x-forwarded-proto')).at(-1)?.toLowerCase();
  return { address: bareAddress(address), secure: proto === undefined ? encrypted : proto === 'https' };
}

function listOf(header: string | undefined): readonly string[] {
  const parts = (header ?? '').split(',').map((one) => one.trim());
  return parts.filter((one) => one !== '');
}

const bearer = 'Bearer realm="Warmwarden"';

/** Refuses a request: a missing token with 401, for people with the sign-in form; too many wrong ones with 429. */
function unauthorized(c: Context, parts: AccessParts, wrongTokens: WrongTokens) {
  const isWrong = c.req.header('authorization') !== undefined;
  const waitSeconds = isWrong ? wrongTokens.note(c.get('client').address) : 0;
  if (waitSeconds > 0) {
    c.header('Retry-After', String(waitSeconds));
    return refuse(c, 'rate_limited', tooManyWrong(waitSeconds));
  }
  if (wantsPage(c) && !isWrong) {
    const { pathname, search } = new URL(c.req.url);
    const to = c.req.method === 'GET' ? pathBehind(parts.pathPrefix, pathname) + search : '/';
    c.header('WWW-Authenticate', bearer);
    return c.html(signInPage(to, null), 401);
  }
  // Scripts are offered only Bearer: for Basic, a browser opens a password dialog over the live page.
  const isScript = c.req.header('accept')?.includes('text/event-stream');
  const ways = isScript ? [bearer] : ['Basic realm="Warmwarden", charset="UTF-8"', bearer];
  for (const way of ways) c.header('WWW-Authenticate', way, { append: true });
  return refuse(c, 'unauthorized', 'Send a token as Bearer or basic password. The user name can be anything.');
}

const maxPathLength = 4_000;
const signInParameters = { to: upTo(maxPathLength) };

function addSignIn(app: Hono, parts: AccessParts, sessions: Sessions, wrongTokens: WrongTokens): void {
  const { world, publicUrl } = parts;
  app.get('/sign-in', (c) => {
    const query = readQuery(signInParameters, queryOf(c));
    if ('wrong' in query) return refuse(c, 'bad_request', query.wrong);
    if (parts.auth() === 'none') return c.redirect('/', 303);
    return c.html(signInPage(pathOnly(query.read.to ?? '/'), null));
  });
  app.post('/sign-in', noQuery, async (c) => {
    const sent = await formOf(c, publicUrl);
    if ('refused' in sent) return sent.refused;
    const auth = parts.auth();
    const to = pathOnly(sent.form.get('to') ?? '/');
    if (auth === 'none') return c.redirect(to, 303);
    const presented = (sent.form.get('token') ?? '').trim();
    const token = presented === '' ? null : recognize(auth.tokens, presented);
    const { address } = c.get('client');
    const again = (problem: string, status: 401 | 403 | 429) => c.html(signInPage(to, problem), status);
    if (token === null) {
      const waitSeconds = wrongTokens.note(address);
      if (waitSeconds === 0) return again('This token is wrong.', 401);
      c.header('Retry-After', String(waitSeconds));
      return again(tooManyWrong(waitSeconds), 429);
    }
    if (!mayRead(token.role, '/')) return again(`The token ${token.name} may only read /metrics.`, 403);
    sessions.start(c, token);
    world.log.info({ operator: token.name, address }, 'signed in');
    return c.redirect(to, 303);
  });
  app.post('/sign-out', noQuery, async (c) => {
    const sent = await ownFormOf(c, publicUrl);
    if ('refused' in sent) return sent.refused;
    setCookieOf(c, '');
    world.log.info({ operator: c.get('asker')?.name }, 'signed out');
    return c.redirect('/sign-in', 303);
  });
}

/** Returns a path on this server, or `/` if the text leads to another server. */
function pathOnly(to: string): string {
  const base = 'http://warmwarden.invalid';
  if (!/^\/(?![/\\])/.test(to) || !URL.canParse(to, base)) return '/';
  const { origin, pathname, search, hash } = new URL(to, base);
  return origin === base && !pathname.startsWith('//') ? `${pathname}${search}${hash}` : '/';
}
