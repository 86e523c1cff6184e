// The OpenAPI document: every route is in it, and what the daemon answers is what it says.
import { expect, test } from 'vitest';
import { commandPaths } from '../../src/web/commands/prepared.ts';
import { places } from '../../src/web/pages.ts';
import { document, operations } from '../support/api-document.ts';
import { registeredRoutes } from './registered-routes.ts';

/** Routes of the pages: what they answer is for people. */
const pages = [
  ...places.map(({ path }) => `GET ${path}`),
  ...commandPaths.flatMap((path) => [`GET ${path}`, `POST ${path}`]),
  ...['POST /recipes/:id', 'POST /runs/:id', 'GET /commands/:id', 'GET /events'],
  ...['GET /sign-in', 'POST /sign-in', 'POST /sign-out'],
].map((route) => route.replace(/:(\w+)/g, '{$1}'));

test('every route of the server but the pages is in the document, and nothing else is', () => {
  const json = registeredRoutes().filter((route) => !pages.includes(route) && !route.startsWith('GET /assets/'));
  expect(json.length).toBeGreaterThan(35);
  expect([...operations.keys()].sort()).toEqual(json);
});

test('every operation has a name of its own, a summary, and a meaning for each parameter', () => {
  const all = [...operations.values()];
  expect(new Set(all.map(({ operationId }) => operationId)).size).toBe(all.length);
  expect(all.filter(({ operationId, summary }) => !operationId || !summary)).toEqual([]);
  const meaningless = [...operations].flatMap(([route, { parameters = [] }]) =>
    parameters.filter(({ description }) => !description).map(({ name }) => `${route} ${name}`),
  );
  expect(meaningless).toEqual([]);
});

test('the document names no shape that nothing refers to', () => {
  const text = JSON.stringify(document);
  const unused = Object.keys(document.components.schemas).filter(
    (name) => !text.includes(`"#/components/schemas/${name}"`),
  );
  expect(unused).toEqual([]);
});
