// The routes: who may ask what, and which page or JSON answers.
import { Hono } from 'hono';
import { compress } from 'hono/compress';
import { getPath } from 'hono/utils/url';
import type { WrongTokens } from '../access/wrong-tokens.ts';
import { addMetrics } from '../metrics/metrics-route.ts';
import { type Rank, rowOf } from '../page/fleet-view.ts';
import { addAccess } from './access.ts';
import { alertsAnswer } from './alerts-answer.ts';
import { addCommands } from './commands/command-routes.ts';
import { cursorAfter } from './cursor.ts';
import { deliveriesAnswer } from './deliveries-answer.ts';
import { explainAnswer } from './explain-answer.ts';
import { historyAnswer } from './history-answer.ts';
import { incidentsAnswer } from './incidents-answer.ts';
import { fleetJson, replicasJson } from './json-answers.ts';
import { addEvents } from './live/events-route.ts';
import type { LiveStream } from './live/live-stream.ts';
import { mailboxJson } from './mailbox-json.ts';
import { openApiDocument } from './openapi/document.ts';
import { addOperations } from './operations-route.ts';
import { addPages } from './page-routes.ts';
import { type PictureParts, pictureOf } from './picture.ts';
import { type Query, readQuery } from './query.ts';
import { createRecipeRoutes } from './recipes/recipe-routes.ts';
import { addRunForms } from './recipes/run-forms.ts';
import { noQuery, queryOf, refusalJson, refuse } from './refusals.ts';
import { addReload } from './reload-route.ts';
import { addHeaders, addPrefix, pathBehind } from './rim.ts';
import { noSuchMailbox, type RouteParts } from './route-parts.ts';
import { rowsAfter } from './select-page.ts';
import { fleetParameters } from './selection.ts';
import { addSignIn } from './sign-in-routes.ts';
import { silencesAnswer } from './silences-answer.ts';

const decisionsShown = 50;
/** Mailboxes of /api/fleet. */
const rowsAnAnswer = 100;

export function createRoutes(parts: RouteParts, wrongTokens: WrongTokens, live: LiveStream): Hono {
  const { pathPrefix } = parts;
  const app = new Hono({ getPath: (request) => pathBehind(pathPrefix, getPath(request)) });
  app.use(addHeaders);
  app.use(compress({ encoding: 'gzip', contentTypeFilter: /^(text|application|image)\//i }));
  app.use(addPrefix(pathPrefix));
  const signedIn = addAccess(app, parts, wrongTokens);
  addSignIn(app, { ...parts, signedIn, wrongTokens });
  addProbes(app, parts);
  addCommands(app, parts);
  addRunForms(app, parts);
  addPages(app, parts, live);
  addEvents(app, live);
  addJson(app, parts);
  app.route('/', createRecipeRoutes(parts.recipes, wrongTokens));
  addDocument(app, parts);
  addReload(app, parts);
  addOperations(app, parts);
  app.notFound((c) => refuse(c, 'not_found', nothingHere(c.req.path)));
  app.onError((error, c) => {
    parts.world.log.error({ err: error, path: c.req.path }, 'a request could not be answered');
    return refuse(c, 'failed', 'Warmwarden could not answer this request. The log says why. It keeps guarding.');
  });
  return app;
}

function nothingHere(path: string): string {
  return path.startsWith('/api/')
    ? 'No route has this address. /openapi.json lists them all.'
    : 'No page has this address.';
}

/** Made when it is asked for first: most never ask. */
function addDocument(app: Hono, { version, publicUrl, pathPrefix }: RouteParts): void {
  let made: string | null = null;
  app.get('/openapi.json', (c) => {
    made ??= JSON.stringify(openApiDocument({ version, server: publicUrl ?? (pathPrefix || '/') }));
    return c.body(made, 200, { 'Content-Type': 'application/json' });
  });
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

/** GET /api/fleet: mailboxes worst first, `limit` of those that fit, from `cursor` on. */
export async function fleetAnswer(parts: PictureParts, asked: URLSearchParams) {
  const query = readQuery(fleetParameters, asked);
  if ('wrong' in query) return refusalJson('bad_request', query.wrong);
  const { q = '', state = null, limit = rowsAnAnswer, cursor } = query.read;
  const picture = await pictureOf(parts);
  const after = cursor === undefined ? null : rankIn(cursor);
  const page = await rowsAfter(picture.known, { text: q.trim(), state }, { after, limit });
  const next = page.last && cursorAfter(keyOf(page.last));
  const { command } = parts.world;
  const body = fleetJson({ fleet: parts.fleet, ...picture, page, next, explain: parts.explain, command });
  return { status: 200, body } as const;
}

const keyOf = ({ urgency, closeness, mailbox: { email, id, account } }: Rank) => [
  urgency,
  closeness,
  email,
  id,
  account,
];
const rankIn = ([urgency, closeness, email, id, account]: NonNullable<
  Query<typeof fleetParameters>['cursor']
>): Rank => ({
  urgency,
  closeness,
  mailbox: { email, id, account },
});

/** What `GET /api/NAME` answers, also over the daemon's own socket; null: that is not for it. */
export async function jsonAnswer(name: string, asked: URLSearchParams, parts: AnswerParts) {
  const { fleet, world, history, entries } = parts;
  const now = world.clock.now();
  switch (name) {
    case 'fleet':
      return fleetAnswer(parts, asked);
    case 'alerts':
      return alertsAnswer(
        { alerts: fleet.alerts(), incidents: fleet.incidents(), silences: fleet.silences(now), now },
        asked,
      );
    case 'incidents':
      return incidentsAnswer(fleet.incidents(), now, asked);
    case 'history':
      return historyAnswer(history, { mailboxes: fleet.mailboxes(), now }, asked);
    case 'explain':
      return explainAnswer(entries, { mailboxes: fleet.mailboxes(), now }, asked);
    case 'silences':
      return silencesAnswer(fleet.silences(now), asked);
    case 'replicas': {
      const query = readQuery({}, asked);
      if ('wrong' in query) return refusalJson('bad_request', query.wrong);
      return { status: 200, body: replicasJson(fleet.replicas(), now) } as const;
    }
    default:
      return null;
  }
}

function addJson(app: Hono, parts: RouteParts): void {
  const { fleet, explain, nearLimitPpmOf } = parts;
  for (const name of ['fleet', 'alerts', 'incidents', 'explain', 'history', 'silences', 'replicas']) {
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
  app.get('/api/deliveries', async (c) => {
    const { body, status } = await deliveriesAnswer(parts.deliveries, queryOf(c));
    return c.json(body, status);
  });
}
