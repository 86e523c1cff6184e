// The OpenAPI document has every route, and each refusal comes with the status and the fields that it and docs/http-api.md say.
import { expect, test } from 'vitest';
import { commandPaths } from '../../src/web/commands/prepared.ts';
import { openApiDocument } from '../../src/web/json/document.ts';
import { usualLimits } from '../../src/web/live.ts';
import { refusals } from '../../src/web/refusals.ts';
import { pages } from '../../src/web/routes.ts';
import type { ServerOptions } from '../../src/web/server.ts';
import { operations } from '../support/api-document.ts';
import { sha256 } from '../support/sha256.ts';
import { exampleFleet } from './example-fleet.ts';
import { registeredRoutes } from './registered-routes.ts';
import { ask, serve } from './running-server.ts';

/** A body that is too large: operations-route.test.ts. Those of recipes: recipes/recipe-routes.test.ts. */
const provokedElsewhere = ['too_large', 'bad_parameters', 'unknown_recipe', 'unknown_run', 'share_used', 'busy'];
const documented = Object.entries(refusals)
  .filter(([word]) => !provokedElsewhere.includes(word))
  .map(([word, { status }]) => `${status} ${word}`);

test('the refusals are sent as they are documented: the code, and an object of `error` and `message`', async () => {
  const sent: string[] = [];
  for (const { options = {}, path, headers = {}, method = 'GET', count = 1, body } of provoked) {
    await using server = await serve(exampleFleet(), { auth: () => auth, ...options });
    const asking = { ...operator, ...headers };
    const once = async () => {
      if (body === undefined) return ask(server.url + path, asking, method);
      const answer = await fetch(server.url + path, { method, headers: asking, body });
      return { status: answer.status, body: await answer.text() };
    };
    const answers = await Promise.all(Array.from({ length: count }, once));
    const last = answers.toSorted((one, other) => one.status - other.status).at(-1);
    if (!last) throw new Error('nothing was asked');
    const { status } = last;
    const { error, message, ...rest } = JSON.parse(last.body.toString());
    expect(rest).toEqual({});
    expect(message).toMatch(/^[A-Z].*\.$|^limit: found/);
    sent.push(`${status} ${error}`);
  }
  expect(sent.sort()).toEqual(documented.sort());
});

const auth = {
  tokens: [
    { name: 'anna', role: 'operator' as const, sha256: sha256('anna') },
    { name: 'vera', role: 'viewer' as const, sha256: sha256('vera') },
  ],
};
const operator = { authorization: 'Bearer anna' };
const form = { 'content-type': 'application/x-www-form-urlencoded' };
const json = { 'content-type': 'application/json' };
const failing = async () => {
  throw new Error('the store does not answer');
};

/** How each refusal comes about. */
const provoked: readonly {
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly method?: string;
  readonly options?: Partial<ServerOptions>;
  readonly count?: number;
  readonly body?: string;
}[] = [
  { path: '/api/alerts?limit=5000' },
  { path: '/api/fleet', headers: { authorization: '' } },
  { path: '/api/operations/pause', headers: { ...json, authorization: 'Bearer vera' }, method: 'POST' },
  { path: '/api/fleet', headers: { host: 'evil.example' }, options: { auth: () => 'none' } },
  { path: '/sign-in', headers: { origin: 'https://evil.example' }, method: 'POST' },
  { path: '/sign-in', method: 'POST' },
  { path: '/sign-out', headers: form, method: 'POST', body: 'form_token=x' },
  { path: '/api/nothing' },
  { path: '/api/explain?mailbox=none' },
  { path: '/api/fleet', method: 'PUT' },
  { path: '/api/operations/pause', method: 'POST' },
  { path: '/api/fleet', headers: { authorization: 'Bearer wrong' }, count: 11 },
  { path: '/api/deliveries', options: { deliveries: failing } },
  { path: '/api/operations/pause', headers: json, method: 'POST', body: '{}' },
  { path: '/events', options: { liveLimits: { ...usualLimits, readers: 0 } } },
];

/** Routes of the pages: what they answer is for people. */
const shownPages = [
  ...pages.map(({ path }) => `GET ${path}`),
  ...commandPaths.flatMap((path) => [`GET ${path}`, `POST ${path}`]),
  ...['POST /recipes/:id', 'POST /runs/:id', 'GET /commands/:id', 'GET /events'],
  ...['GET /sign-in', 'POST /sign-in', 'POST /sign-out'],
].map((route) => route.replace(/:(\w+)/g, '{$1}'));

test('every route of the server but the pages is in the document, and nothing else is', () => {
  const json = registeredRoutes().filter((route) => !shownPages.includes(route) && !route.startsWith('GET /assets/'));
  expect(json.length).toBeGreaterThan(30);
  expect([...operations.keys()].sort()).toEqual(json);
});

test('every parameter has a meaning', () => {
  const meaningless = [...operations].flatMap(([route, { parameters = [] }]) =>
    parameters.filter(({ description }) => !description).map(({ name }) => `${route} ${name}`),
  );
  expect(meaningless).toEqual([]);
});

// Forms that generators of clients read: openapi-typescript, openapi-python-client, oapi-codegen, ogen and OpenAPI Generator each fail at one
// of those that are refused here.

const document = openApiDocument({ version: '0.1.0', server: 'http://127.0.0.1:7025' });

interface Place {
  readonly path: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/** Objects below a value, with their paths; an `example` is no schema. */
function* objectsIn(value: unknown, path: string): Generator<Place> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield { path, value: value as Place['value'] };
  for (const [key, inner] of Object.entries(value)) yield* objectsIn(inner, `${path}/${key}`);
}

const objects = [...objectsIn(document.paths, 'paths'), ...objectsIn(document.components, 'components')];
const where = (wrong: (place: Place) => boolean) => objects.filter(wrong).map(({ path }) => path);

const types = (type: unknown) => (Array.isArray(type) ? type.filter((one) => one !== 'null').length : 1);
const isOfBody = ({ path }: Place) =>
  path.includes('/requestBody/') || path.startsWith('components/schemas/RunRequest');

test.each<[string, (place: Place) => boolean]>([
  ['two types beside null', ({ value }) => types(value['type']) > 1],
  ['const', ({ value }) => 'const' in value],
  ['an exclusive bound', ({ value }) => 'exclusiveMinimum' in value || 'exclusiveMaximum' in value],
  ['a number that is no double', ({ value }) => value['type'] === 'number' && value['format'] !== 'double'],
  // TypeScript would make it mandatory.
  ['a default in a body', (place) => isOfBody(place) && 'default' in place.value],
])('no schema has %s', (_what, wrong) => {
  expect(where(wrong)).toEqual([]);
});

test('all of a body may be left out', () => {
  expect(where(({ value }) => value['type'] === 'number').length).toBeGreaterThan(10);
  const { required, properties } = document.components.schemas['RunRequest'] as {
    required?: string[];
    properties: object;
  };
  expect([required, Object.keys(properties)]).toEqual([undefined, ['parameters', 'apply', 'plan']]);
});

test('the document says that words may be added to the enums of answers', () => {
  expect(document.info.description).toContain('words\nto the enums of answers');
  expect(JSON.stringify(document.paths)).toContain('Words may be added.');
});
