// docs/http-api.md has every route and every operation, and no other.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Fleet } from '../../src/fleet/fleet.ts';
import { operationNames } from '../../src/operator/command-requests.ts';
import { createRoutes, type RouteParts } from '../../src/serve/routes.ts';
import { WrongTokens } from '../../src/serve/wrong-tokens.ts';
import { metricsOf, stillWorld } from './running-server.ts';

const page = readFileSync(new URL('../../docs/http-api.md', import.meta.url), 'utf8');

/** As the page writes them: `GET /api/mailboxes/{account}/{id}`. */
function registered(): readonly string[] {
  const world = stillWorld();
  const fleet = new Fleet();
  const parts = {
    world,
    fleet,
    metrics: metricsOf(fleet, world),
    auth: () => 'none',
    host: '127.0.0.1',
    recipes: {},
  } as unknown as RouteParts;
  const { routes } = createRoutes(parts, new WrongTokens(world));
  const asked = routes.filter(({ method }) => method !== 'ALL');
  return [...new Set(asked.map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`))].sort();
}

const documented = [...page.matchAll(/^## ((?:GET|POST) \S+)$|`((?:GET|POST) \/[^`]*)`/gm)].map(
  ([, heading, cell]) => heading ?? cell ?? '',
);

test('every route is named in docs/http-api.md, and nothing else is', () => {
  expect(registered().length).toBeGreaterThan(20);
  expect([...new Set(documented)].sort()).toEqual(registered());
});

test('every operation is named there, and nothing else is', () => {
  const [, table = ''] = /\n\| name \| body[^\n]*\n[^\n]*\n((?:\|[^\n]*\n)+)/.exec(page) ?? [];
  const named = [...table.matchAll(/^\| ([^|]*) \|/gm)].flatMap(([, cell = '']) => cell.match(/[a-z-]+/g) ?? []);
  expect(named.sort()).toEqual([...operationNames].sort());
});
