// All routes of the server, with their access control.

import { type Context, Hono } from 'hono';
import { compress } from 'hono/compress';
import { getPath } from 'hono/utils/url';
import { addMetrics } from '../metrics/metrics.ts';
import { addAccess, byOf, visitorOf } from './access/access.ts';
import { isLimited, partsFor } from './access/limits.ts';
import { WrongTokens } from './access/rates.ts';
import { formTokenFor, ownFormOf } from './access/sessions.ts';
import { addCommands } from './commands/command-routes.ts';
import { openApiDocument } from './json/document.ts';
import { fleetRoutes, probeRoutes } from './json/json-routes.ts';
import { operationRoutes } from './json/operations.ts';
import { addRoutes } from './json/route.ts';
import { addEvents, type LiveParts } from './live.ts';
import { activityPage } from './page/activity-page.ts';
import { alertsPage, runbooksPage, silencesPage } from './page/alerts-page.ts';
import { liveScript, localTimes } from './page/assets/scripts.ts';
import { iconSvg, styleSheet } from './page/assets/style-sheet.ts';
import { fleetPage, groupsPage } from './page/fleet-page.ts';
import { layout } from './page/layout.ts';
import { mailboxPage } from './page/mailbox-page.ts';
import { bannerOf } from './page/parts/account-panels.ts';
import { withoutCommands } from './page/parts/command-links.ts';
import { parameterPrefix, recipePage, recipesPage, runPage, runPath } from './page/recipes-page.ts';
import { createRecipeRoutes, downloadRoutes } from './recipes/recipe-routes.ts';
import { noQuery, operatorsOnly, queryOf, refuse, refuseRecipe } from './refusals.ts';
import { addHeaders, addPrefix, pathBehind } from './rim.ts';
import type { RouteParts } from './route-parts.ts';

export function createRoutes(parts: RouteParts, live: LiveParts): Hono {
  const { pathPrefix } = parts;
  const wrongTokens = new WrongTokens(parts.world);
  const app = new Hono({ getPath: (request) => pathBehind(pathPrefix, getPath(request)) });
  app.use(addHeaders);
  app.use(compress({ encoding: 'gzip', contentTypeFilter: /^(text|application|image)\//i }));
  app.use(addPrefix(pathPrefix));
  addAccess(app, parts, wrongTokens);
  const probes = { ...parts, document: documentOf(parts) };
  addRoutes(app, probeRoutes, () => probes);
  addMetrics(app, parts.metrics, {
    isReady: () => parts.ready().ready,
    partOf: (c) => (isLimited(c) ? partsFor(c, parts).fleet : null),
  });
  addCommands(app, parts);
  addRunForms(app, parts);
  addPages(app, parts);
  addRoutes(app, downloadRoutes, () => parts.recipes);
  addEvents(app, live);
  addRoutes(app, fleetRoutes, (c) => partsFor(c, parts));
  app.route('/', createRecipeRoutes(parts.recipes, wrongTokens));
  addRoutes(app, operationRoutes, () => parts);
  app.notFound((c) => {
    const { path, method } = c.req;
    const methods = methodsAt(app, path);
    // A route that passes the request on did not find its subject, for example a command with an unknown name.
    if (methods.length === 0 || methods.includes(method)) return refuse(c, 'not_found', nothingHere(path));
    c.header('Allow', methods.join(', '));
    return refuse(c, 'wrong_method', `${method}: this address takes ${methods.join(', ')}.`);
  });
  app.onError((error, c) => {
    parts.world.log.error({ err: error, path: c.req.path }, 'a request could not be answered');
    return refuse(c, 'failed', 'Warmwarden could not answer this request. The log says why. It keeps guarding.');
  });
  // Compiles the router, which takes ten milliseconds, before the guard starts.
  app.router.match('GET', '/healthz');
  return app;
}

const methodsKnown = ['DELETE', 'GET', 'PATCH', 'POST', 'PUT'];

/** Methods of a path, without those of middleware. Empty if no route has this address. */
function methodsAt({ router }: Hono, path: string): readonly string[] {
  const taken = methodsKnown.filter((method) =>
    router.match(method, path)[0].some(([[, route]]) => route.method === method),
  );
  return taken.includes('GET') ? [...taken, 'HEAD'].sort() : taken;
}

function nothingHere(path: string): string {
  return path.startsWith('/api/')
    ? 'No route has this address. /openapi.json lists them all.'
    : 'No page has this address.';
}

function documentOf({ version, publicUrl, pathPrefix }: RouteParts): () => string {
  let made: string | null = null;
  return () => {
    made ??= JSON.stringify(openApiDocument({ version, server: publicUrl ?? (pathPrefix || '/') }));
    return made;
  };
}

// Pages with their frame, and their assets.

export const pages = [
  ...[fleetPage, groupsPage, alertsPage, activityPage, silencesPage, recipesPage, recipePage],
  ...[runPage, mailboxPage, runbooksPage],
];

function addPages(app: Hono, whole: RouteParts): void {
  for (const route of pages) {
    app.get(route.path, async (c) => {
      const parts = partsFor(c, whole);
      const request = { names: c.req.param() ?? {}, query: queryOf(c), formToken: () => formTokenFor(c) };
      const view = await route.read(parts, request);
      if ('refused' in view) return refuse(c, view.refused, view.message);
      const visitor = visitorOf(c);
      const still = queryOf(c).get('refresh') === 'off';
      const live = { now: parts.world.clock.now(), still, address: addressOf(c, parts.pathPrefix) };
      // The headline of the fleet includes the banner's facts.
      const page = layout({ ...view, banner: route.path === '/' ? '' : bannerOf(parts), live, visitor });
      return c.html(visitor.mayOperate ? page : withoutCommands(String(page)));
    });
  }
  const asset = (type: string) => ({ 'Content-Type': type, 'Cache-Control': 'private, max-age=300' });
  app.get('/assets/style.css', (c) => c.body(styleSheet, 200, asset('text/css; charset=utf-8')));
  app.get('/assets/local-times.js', (c) => c.body(localTimes, 200, asset('text/javascript; charset=utf-8')));
  app.get('/assets/live.js', (c) => c.body(liveScript, 200, asset('text/javascript; charset=utf-8')));
  app.get('/assets/icon.svg', (c) => c.body(iconSvg, 200, asset('image/svg+xml')));
}

function addressOf(c: Context, pathPrefix: string): string {
  const { pathname, searchParams } = new URL(c.req.url);
  searchParams.delete('refresh');
  const path = pathBehind(pathPrefix, pathname);
  return searchParams.size === 0 ? path : `${path}?${searchParams}`;
}

// Posts of the forms on the pages of recipes: each starts a run, carries out what a dry run showed, or ends a run.

function addRunForms(app: Hono, { recipes: { service }, publicUrl }: Pick<RouteParts, 'recipes' | 'publicUrl'>): void {
  // A viewer may start a dry run, too.
  app.post('/recipes/:id', noQuery, async (c) => {
    const sent = await ownFormOf(c, publicUrl);
    if ('refused' in sent) return sent.refused;
    // An empty field counts as absent.
    const given = [...sent.form].filter(([name, value]) => name.startsWith(parameterPrefix) && value !== '');
    const parameters = Object.fromEntries(given.map(([name, value]) => [name.slice(parameterPrefix.length), value]));
    const role = visitorOf(c).mayOperate ? 'operator' : 'viewer';
    const run = await service.start({ recipe: c.req.param('id'), parameters, apply: false, by: byOf(c), role });
    return 'refused' in run ? refuseRecipe(c, run) : c.redirect(runPath(run.id), 303);
  });
  app.post('/runs/:id', noQuery, async (c) => {
    const sent = await ownFormOf(c, publicUrl);
    if ('refused' in sent) return sent.refused;
    if (!visitorOf(c).mayOperate) return refuse(c, 'not_allowed', operatorsOnly);
    const word = sent.form.get('do');
    if (word !== 'apply' && word !== 'cancel') return refuse(c, 'bad_request', 'The form names no command.');
    const plan = await service.run(c.req.param('id'));
    if ('refused' in plan) return refuseRecipe(c, plan);
    const { id, recipe, parameters } = plan;
    const applied = { recipe, parameters, apply: true, plan: id, by: byOf(c), role: 'operator' } as const;
    const run = word === 'cancel' ? await service.cancel(id) : await service.start(applied);
    return 'refused' in run ? refuseRecipe(c, run) : c.redirect(runPath(run.id), 303);
  });
}
