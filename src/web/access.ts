// Who may ask what: the token of a request, or the session of a browser; without tokens, the host that was asked.
import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context, Hono } from 'hono';
import { createAuthenticate, isOwnHost, mayRead, type Role } from './access/auth.ts';
import { browserKeyOf, type CookieKind, formTokenOf } from './access/browser-key.ts';
import { type Client, TrustedProxies } from './access/client.ts';
import { Sessions } from './access/sessions.ts';
import { tooManyWrong, type WrongTokens } from './access/wrong-tokens.ts';
import { signInPage, type Visitor } from './page/layout.ts';
import { isForPeople, refuse } from './refusals.ts';
import { pathBehind } from './rim.ts';
import type { AccessParts } from './route-parts.ts';

/** Who asks. */
export interface Asker {
  /** The name of the token; null where there are no tokens. */
  readonly name: string | null;
  readonly role: Role;
  /** Whether a session says so, and not the request itself. */
  readonly signedIn: boolean;
}

declare module 'hono' {
  interface ContextVariableMap {
    client: Client;
    cookie: CookieKind;
    /** Not set on paths that are open to everybody. */
    asker: Asker | undefined;
  }
}

const openPaths: readonly string[] = ['/healthz', '/readyz', '/openapi.json', '/sign-in'];

/** Recipes have keys of their own; the style and the scripts are the same for everybody, and the form to sign in needs them. */
function isOpen(path: string): boolean {
  return openPaths.includes(path) || path.startsWith('/v1/') || path.startsWith('/assets/');
}

/** Returns the sessions of this server. */
export function addAccess(app: Hono, parts: AccessParts, wrongTokens: WrongTokens): Sessions {
  const { auth, world, pathPrefix } = parts;
  const sessions = new Sessions(parts.sessions, world, auth);
  // Tokens are read once, so that a wrong one is reported at the start, and again when a reload brought others.
  const authenticateOf = following(auth, (one) => (one === 'none' ? null : createAuthenticate(one.tokens)));
  const proxiesOf = following(parts.trustedProxies, (networks) => new TrustedProxies(networks));
  app.use(async (c, next) => {
    const client = clientOf(c, proxiesOf());
    c.set('client', client);
    c.set('cookie', { secure: client.secure, pathPrefix });
    if (isOpen(c.req.path)) return next();
    const authenticate = authenticateOf();
    if (authenticate === null) {
      if (!isOurHost(c, parts)) return refuse(c, 'unknown_host', unknownHost);
      c.set('asker', { name: null, role: 'operator', signedIn: false });
      return next();
    }
    const authorization = c.req.header('authorization');
    const key = authorization === undefined ? browserKeyOf(c, c.get('cookie')) : null;
    const identity = key === null ? authenticate(authorization) : await sessions.identityOf(key);
    if (identity === null) return unauthorized(c, parts, wrongTokens);
    const { name, role } = identity;
    if (!mayRead(role, c.req.path)) return refuse(c, 'not_allowed', `The token ${name} may only read /metrics.`);
    c.set('asker', { name, role, signedIn: key !== null });
    return next();
  });
  return sessions;
}

/** Who looks at the page that answers this request. */
export function visitorOf(c: Context): Visitor {
  const asker = c.get('asker');
  const key = asker?.signedIn ? browserKeyOf(c, c.get('cookie')) : null;
  return {
    name: asker?.name ?? null,
    mayOperate: asker?.role === 'operator',
    signOutToken: key === null ? null : formTokenOf(key),
  };
}

/** Who operates where there are no tokens. */
const unnamed = 'somebody on the page';

/** The name under which what is asked for is recorded. */
export function byOf(c: Context): string {
  return c.get('asker')?.name ?? unnamed;
}

/** What was made of a setting, and is made again when it is another one. */
function following<Setting, Made>(setting: () => Setting, make: (one: Setting) => Made): () => Made {
  let known = { setting: setting(), made: make(setting()) };
  return () => {
    const now = setting();
    if (known.setting !== now) known = { setting: now, made: make(now) };
    return known.made;
  };
}

const unknownHost =
  'Without tokens, Warmwarden answers only to localhost, an IP address, and the names in server.listen, server.public_url and server.allowed_hosts.';

function isOurHost(c: Context, { host, publicUrl, allowedHosts }: AccessParts): boolean {
  const asked = c.req.header('host');
  return (
    isOwnHost(asked, host, allowedHosts()) || (publicUrl !== null && asked?.toLowerCase() === new URL(publicUrl).host)
  );
}

function clientOf(c: Context, proxies: TrustedProxies): Client {
  return proxies.clientOf({
    remoteAddress: getConnInfo(c).remote.address,
    encrypted: c.req.url.startsWith('https:'),
    forwardedFor: c.req.header('x-forwarded-for'),
    forwardedProto: c.req.header('x-forwarded-proto'),
  });
}

const bearer = 'Bearer realm="Warmwarden"';

/** Without a token 401 at once, to people as the form to sign in; with a wrong one later and later, and 429 when there were too many from its address. */
async function unauthorized(c: Context, parts: AccessParts, wrongTokens: WrongTokens) {
  const isWrong = c.req.header('authorization') !== undefined;
  const waitSeconds = isWrong ? await wrongTokens.slow(c.get('client').address) : null;
  if (waitSeconds !== null) {
    c.header('Retry-After', String(waitSeconds));
    return refuse(c, 'rate_limited', tooManyWrong(waitSeconds));
  }
  if (isForPeople(c) && !isWrong) {
    const { pathname, search } = new URL(c.req.url);
    const to = c.req.method === 'GET' ? pathBehind(parts.pathPrefix, pathname) + search : '/';
    c.header('WWW-Authenticate', bearer);
    return c.html(signInPage({ to, problem: null }), 401);
  }
  // A browser that is offered Basic asks for a password in a window of its own, over the live page whose script this is.
  const isScript = c.req.header('accept')?.includes('text/event-stream');
  const ways = isScript ? [bearer] : ['Basic realm="Warmwarden", charset="UTF-8"', bearer];
  for (const way of ways) c.header('WWW-Authenticate', way, { append: true });
  return refuse(c, 'unauthorized', 'Send a token as Bearer or basic password. The user name can be anything.');
}
