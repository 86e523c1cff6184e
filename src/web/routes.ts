// All routes of the server, with their access control.
import { Hono } from 'hono';
import { compress } from 'hono/compress';
import { getPath } from 'hono/utils/url';
import { addMetrics } from '../metrics/metrics.ts';
import { addAccess } from './access/access.ts';
import { WrongTokens } from './access/auth.ts';
import { addCommands } from './commands/command-routes.ts';
import { openApiDocument } from './json/document.ts';
import { fleetRoutes, probeRoutes } from './json/json-routes.ts';
import { operationRoutes } from './json/operations.ts';
import { addRoutes } from './json/route.ts';
import { addEvents, type LiveParts } from './live.ts';
import { addPages } from './pages.ts';
import { createRecipeRoutes, downloadRoutes } from './recipes/recipe-routes.ts';
import { addRunForms } from './recipes/run-forms.ts';
import { refuse } from './refusals.ts';
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
  addRoutes(app, probeRoutes, { ...parts, document: documentOf(parts) });
  addMetrics(app, parts.metrics, () => parts.ready().ready);
  addCommands(app, parts);
  addRunForms(app, parts);
  addPages(app, parts);
  addRoutes(app, downloadRoutes, parts.recipes);
  addEvents(app, live);
  addRoutes(app, fleetRoutes, parts);
  app.route('/', createRecipeRoutes(parts.recipes, wrongTokens));
  addRoutes(app, operationRoutes, parts);
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
