// The routes of the server, as docs/http-api.md writes them: `GET /v1/runs/{id}`.

import { Fleet } from '../../src/core/fleet/fleet.ts';
import { usualLimits } from '../../src/web/live.ts';
import type { RouteParts } from '../../src/web/route-parts.ts';
import { createRoutes } from '../../src/web/routes.ts';
import { metricsOf, stillWorld } from './running-server.ts';

export function registeredRoutes(): readonly string[] {
  const world = stillWorld();
  const fleet = new Fleet();
  const parts = {
    world,
    fleet,
    metrics: metricsOf(fleet, world),
    auth: () => 'none',
    host: '127.0.0.1',
    trustedProxies: () => [],
    allowedHosts: () => [],
    pathPrefix: '',
    recipes: {},
  } as unknown as RouteParts;
  const live = { fleet, limits: usualLimits, closing: new AbortController().signal };
  const { routes } = createRoutes(parts, live);
  const asked = routes.filter(({ method }) => method !== 'ALL');
  return [...new Set(asked.map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`))].sort();
}
