// Query parameters: a wrong or unknown one is refused in a sentence that names it, what was found and what is expected.
import { expect, test } from 'vitest';
import { guardStates } from '../../src/core/mailbox.ts';
import type { ReloadRequest } from '../../src/core/operator-command.ts';
import { commandPaths } from '../../src/web/commands/prepared.ts';
import { pages } from '../../src/web/routes.ts';
import { recipeRunner } from '../support/recipe-runner.ts';
import { sha256 } from '../support/sha256.ts';
import { exampleFleet } from './example-fleet.ts';
import { registeredRoutes } from './registered-routes.ts';
import { ask, serve, stillWorld } from './running-server.ts';

const auth = () => ({ tokens: [{ name: 'anna', role: 'operator' as const, sha256: sha256('secret') }] });
const authorization = 'Bearer secret';

/** A server on which everything is allowed, and a question to it. */
async function open() {
  const world = stillWorld();
  const callerOf = () => ({ name: 'anna', role: 'operator' as const, plan: null });
  const reloads: ReloadRequest[] = [];
  const server = await serve(exampleFleet(), {
    world,
    auth,
    recipes: { service: recipeRunner(world), world, callerOf },
    operate: () => async (_name, request) => {
      reloads.push(request as ReloadRequest);
      return { result: 'done', messages: [] };
    },
  });
  const get = async (path: string, method = 'GET', headers: Record<string, string> = {}) => {
    const { status, body } = await ask(server.url + path, { authorization, ...headers }, method);
    return { status, text: body.toString() };
  };
  return { get, reloads, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

const states = guardStates.join(', ');

test.each([
  ['/api/fleet?state=xyz', `state: found "xyz", expected one of ${states}.`],
  ['/api/fleet?state=', `state: found "", expected one of ${states}.`],
  ['/api/fleet?limit=0', 'limit: found "0", expected a whole number from 1 to 1000.'],
  ['/api/fleet?limit=-1e9', 'limit: found "-1e9", expected a whole number from 1 to 1000.'],
  ['/api/fleet?cursor=W10', 'cursor: found "W10", expected the next_cursor of an answer of this route.'],
  ['/api/fleet?sate=held', 'sate: unknown parameter, expected q, state, account, held, tag, limit, cursor.'],
  ['/api/fleet?toString=1', 'toString: unknown parameter, expected q, state, account, held, tag, limit, cursor.'],
  ['/api/fleet?state=ok&state=held', 'state: found 2 times, expected once.'],
  [`/api/fleet?q=${'x'.repeat(201)}`, `q: found "${'x'.repeat(60)}…", expected at most 200 characters.`],
  ['/api/alerts?limit=1001', 'limit: found "1001", expected a whole number from 1 to 1000.'],
  ['/api/alerts?status=resolved', 'status: found "resolved", expected one of firing, pending.'],
  [
    '/api/alerts?severity=critical,grave',
    'severity: found "critical,grave", expected one or several of critical, warning, info, with commas between.',
  ],
  [
    '/api/alerts?severity=critical&severity=grave',
    'severity: found "critical,grave", expected one or several of critical, warning, info, with commas between.',
  ],
  ['/api/alerts?status=firng', 'status: found "firng" (did you mean firing?), expected one of firing, pending.'],
  ['/api/history?guard=yes', 'guard: found "yes", expected one of true, false.'],
  ['/api/history?since_seconds=1h', 'since_seconds: found "1h", expected a whole number from 1 to 999999999.'],
  ['/api/explain', 'mailbox: missing, expected an address, an id or ACCOUNT/ADDRESS.'],
  ['/v1/recipes/at-risk/runs?limit=501', 'limit: found "501", expected a whole number from 1 to 500.'],
  ['/v1/runs/x?offset=-1', 'offset: found "-1", expected a whole number from 0 to 999999999.'],
  [
    '/?page=0&state=xyz',
    `state: found "xyz", expected one of ${states}; page: found "0", expected a whole number from 1 to 999999999.`,
  ],
  ['/?refresh=on', 'refresh: found "on", expected off.'],
])('%s is refused', async (path, message) => {
  await using server = await open();
  const { status, text } = await server.get(path);
  expect([status, JSON.parse(text)]).toEqual([400, { error: 'bad_request', message }]);
});

test('a list may repeat its name, as generated clients write it', async () => {
  await using server = await open();
  const answers = ['critical,warning', 'critical&severity=warning', 'info'].map(
    async (some) => (await server.get(`/api/alerts?severity=${some}`)).text,
  );
  const [commas, repeated, other] = await Promise.all(answers);
  expect([repeated, other === commas]).toEqual([commas, false]);
});

test('what was found is shown harmless, on a page too', async () => {
  await using server = await open();
  const wrong = '/?state=%3Cb%3E%E2%80%AEx';
  expect(JSON.parse((await server.get(wrong)).text).message).toContain('found "<b>[U+202E]x"');
  const { status, text } = await server.get(wrong, 'GET', { accept: 'text/html' });
  expect(status).toBe(400);
  expect(text).toContain('&lt;b&gt;[U+202E]x');
});

/** They have no parameters, and a scraper or a link may bring some: ignored. */
const lenient = [
  ...pages.map(({ path }) => path.replace(/:(\w+)/g, '{$1}')),
  ...['/healthz', '/readyz', '/metrics', '/openapi.json'],
];

/** A GET of them prepares a command, which the page that links to it may name in its own way. */
const prepares = commandPaths.map((path) => `GET ${path}`);

test('no route of the API ignores a parameter that it does not know', async () => {
  await using server = await open();
  const strict = registeredRoutes()
    .filter((route) => !prepares.includes(route))
    .map((route) => route.split(' ') as [string, string])
    .filter(([, path]) => !lenient.includes(path) && !path.startsWith('/assets/'));
  expect(strict.length).toBeGreaterThan(12);
  for (const [method, path] of strict) {
    const { status, text } = await server.get(`${path.replace(/\{\w+\}/g, 'x')}?dryrun=true`, method);
    expect([path, status, JSON.parse(text).error]).toEqual([path, 400, 'bad_request']);
    expect(JSON.parse(text).message).toMatch(/^dryrun: unknown parameter, expected /);
  }
  expect(server.reloads).toEqual([]);
});
