// The routes: who may ask what, and which page or JSON answers.
import { getConnInfo } from '@hono/node-server/conninfo';
import { type Context, Hono } from 'hono';
import { compress } from 'hono/compress';
import { addMetrics } from '../metrics/metrics-route.ts';
import { rowOf, type Selection, selectPage } from '../page/fleet-view.ts';
import { alertsAnswer } from './alerts-answer.ts';
import { type Auth, type Authenticate, createAuthenticate, isOwnHost, mayRead } from './auth.ts';
import { explainAnswer } from './explain-answer.ts';
import { historyAnswer } from './history-answer.ts';
import { deliveryJson, fleetJson, mailboxJson, silenceJson } from './json-answers.ts';
import { addEvents } from './live/events-route.ts';
import type { LiveStream } from './live/live-stream.ts';
import { addOperations } from './operations-route.ts';
import { addPages } from './page-routes.ts';
import { type PictureParts, pictureOf } from './picture.ts';
import { readQuery } from './query.ts';
import { openApiDocument } from './recipes/openapi.ts';
import { createRecipeRoutes } from './recipes/recipe-routes.ts';
import { noQuery, queryOf, refusalJson, refuse } from './refusals.ts';
import { addReload } from './reload-route.ts';
import { noSuchMailbox, type RouteParts } from './route-parts.ts';
import { selectionFrom, selectionParameters } from './selection.ts';
import { tooManyWrong, type WrongTokens } from './wrong-tokens.ts';

const decisionsShown = 50;
const deliveriesShown = 50;
/** Mailboxes of /api/fleet. */
const rowsAnAnswer = 100;
const openPaths: readonly string[] = ['/healthz', '/readyz', '/openapi.json'];

/** No script but our own file, nothing from elsewhere, no frame around us. */
const securityHeaders: Readonly<Record<string, string>> = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-store',
};

export function createRoutes(parts: RouteParts, wrongTokens: WrongTokens, live: LiveStream): Hono {
  const app = new Hono();
  app.use(async (c, next) => {
    await next();
    for (const [name, value] of Object.entries(securityHeaders)) {
      if (!c.res.headers.has(name)) c.res.headers.set(name, value);
    }
  });
  app.use(compress({ encoding: 'gzip', contentTypeFilter: /^(text|application|image)\//i }));
  addAccess(app, parts, wrongTokens);
  addProbes(app, parts);
  addPages(app, parts, live);
  addEvents(app, live);
  addJson(app, parts);
  app.route('/', createRecipeRoutes(parts.recipes, wrongTokens));
  app.get('/openapi.json', (c) => c.json(openApiDocument(parts.version)));
  addReload(app, parts);
  addOperations(app, parts);
  app.notFound((c) => refuse(c, 'not_found', 'No page has this address.'));
  app.onError((error, c) => {
    parts.world.log.error({ err: error, path: c.req.path }, 'a request could not be answered');
    return refuse(c, 'failed', 'Warmwarden could not answer this request. The log says why. It keeps guarding.');
  });
  return app;
}

function addAccess(app: Hono, { auth, host }: RouteParts, wrongTokens: WrongTokens): void {
  // Tokens are read once, so that a wrong one is told at the start, and again when a reload brought others.
  let known = { auth: auth(), authenticate: authenticateFor(auth()) };
  app.use(async (c, next) => {
    // Recipes have keys of their own.
    if (openPaths.includes(c.req.path) || c.req.path.startsWith('/v1/')) return next();
    if (known.auth !== auth()) known = { auth: auth(), authenticate: authenticateFor(auth()) };
    const { authenticate } = known;
    if (authenticate === null) {
      if (isOwnHost(c.req.header('host'), host)) return next();
      return refuse(
        c,
        'unknown_host',
        'Without tokens, Warmwarden answers only to localhost, an IP address or the name in server.listen.',
      );
    }
    const identity = authenticate(c.req.header('authorization'));
    if (identity === null) return unauthorized(c, wrongTokens);
    if (mayRead(identity.role, c.req.path)) return next();
    return refuse(c, 'not_allowed', `The token ${identity.name} may only read /metrics.`);
  });
}

/** Without a token 401 at once; with a wrong one later and later, and 429 when there were too many from its address. */
async function unauthorized(c: Context, wrongTokens: WrongTokens) {
  const isWrong = c.req.header('authorization') !== undefined;
  const waitSeconds = isWrong ? await wrongTokens.slow(getConnInfo(c).remote.address) : null;
  if (waitSeconds !== null) {
    c.header('Retry-After', String(waitSeconds));
    return refuse(c, 'rate_limited', tooManyWrong(waitSeconds));
  }
  c.header('WWW-Authenticate', 'Basic realm="Warmwarden", charset="UTF-8"');
  c.header('WWW-Authenticate', 'Bearer realm="Warmwarden"', { append: true });
  return refuse(c, 'unauthorized', 'Send a token as Bearer or basic password. The user name can be anything.');
}

function authenticateFor(auth: Auth): Authenticate | null {
  return auth === 'none' ? null : createAuthenticate(auth.tokens);
}

function addProbes(app: Hono, { metrics, ready }: RouteParts): void {
  app.get('/healthz', (c) => c.text('ok\n'));
  app.get('/readyz', (c) => {
    const state = ready();
    return state.ready ? c.text('ready\n') : c.text(`not ready: ${state.reasons.join('; ')}\n`, 503);
  });
  addMetrics(app, metrics);
}

/** What GET routes with JSON answer from. */
export type AnswerParts = PictureParts & Pick<RouteParts, 'history' | 'entries'>;
export type FleetAnswer = ReturnType<typeof fleetJson>;

/** The fleet as JSON, worst first: one page of the selection. */
export function fleetAnswer(parts: PictureParts, selection: Selection): FleetAnswer {
  const picture = pictureOf(parts);
  const page = selectPage(parts.fleet, picture.ranked, selection, rowsAnAnswer);
  return fleetJson({ fleet: parts.fleet, ...picture, page, explain: parts.explain, command: parts.world.command });
}

/** What `GET /api/NAME` answers, also over the daemon's own socket; null: that is not for it. */
export async function jsonAnswer(name: string, asked: URLSearchParams, parts: AnswerParts) {
  const { fleet, world, history, entries } = parts;
  const now = world.clock.now();
  switch (name) {
    case 'fleet': {
      const query = readQuery(selectionParameters, asked);
      if ('wrong' in query) return refusalJson('bad_request', query.wrong);
      return { status: 200, body: fleetAnswer(parts, selectionFrom(query.read)) } as const;
    }
    case 'alerts':
      return alertsAnswer({ alerts: fleet.alerts(), silences: fleet.silences(now), now }, asked);
    case 'history':
      return historyAnswer(history, { mailboxes: fleet.mailboxes(), now }, asked);
    case 'explain':
      return explainAnswer(entries, { mailboxes: fleet.mailboxes(), now }, asked);
    case 'silences': {
      const query = readQuery({}, asked);
      if ('wrong' in query) return refusalJson('bad_request', query.wrong);
      return { status: 200, body: { silences: fleet.silences(now).map(silenceJson) } } as const;
    }
    default:
      return null;
  }
}

function addJson(app: Hono, parts: RouteParts): void {
  const { fleet, explain, nearLimitPpmOf } = parts;
  for (const name of ['fleet', 'alerts', 'explain', 'history', 'silences']) {
    app.get(`/api/${name}`, async (c) => {
      const answer = await jsonAnswer(name, queryOf(c), parts);
      return answer ? c.json(answer.body, answer.status) : c.notFound();
    });
  }
  app.get('/api/mailboxes/:account/:id', noQuery, async (c) => {
    const { account, id } = c.req.param();
    const mailbox = fleet.mailbox(account, id);
    if (!mailbox) return refuse(c, 'unknown_mailbox', noSuchMailbox);
    const decisions = await parts.decisions(account, id, decisionsShown);
    return c.json(mailboxJson(rowOf(fleet, mailbox, nearLimitPpmOf), decisions, explain));
  });
  app.get('/api/deliveries', noQuery, async (c) =>
    c.json({ deliveries: (await parts.deliveries(deliveriesShown)).map(deliveryJson) }),
  );
}
