// docs/http-api.md has every route, operation and refusal, and no other; its examples have the fields of real answers.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { operationNames } from '../../src/operator/command-requests.ts';
import { usualLimits } from '../../src/serve/live/live-stream.ts';
import { statusOf } from '../../src/serve/recipes/recipe-routes.ts';
import { refusals } from '../../src/serve/refusals.ts';
import type { ServerOptions } from '../../src/serve/server.ts';
import { exampleFleet, now } from './example-fleet.ts';
import { registeredRoutes } from './registered-routes.ts';
import { ask, serve } from './running-server.ts';

const page = readFileSync(new URL('../../docs/http-api.md', import.meta.url), 'utf8');

const documented = [...page.matchAll(/^## ((?:GET|POST) \S+)$|`((?:GET|POST) \/[^`]*)`/gm)].map(
  ([, heading, cell]) => heading ?? cell ?? '',
);

test('every route is named in docs/http-api.md, and nothing else is', () => {
  expect(registeredRoutes().length).toBeGreaterThan(20);
  expect([...new Set(documented)].sort()).toEqual(registeredRoutes());
});

test('every operation is named there, and nothing else is', () => {
  const [, table = ''] = /\n\| name \| body[^\n]*\n[^\n]*\n((?:\|[^\n]*\n)+)/.exec(page) ?? [];
  const named = [...table.matchAll(/^\| ([^|]*) \|/gm)].flatMap(([, cell = '']) => cell.match(/[a-z-]+/g) ?? []);
  expect(named.sort()).toEqual([...operationNames].sort());
});

/** The tables of refusals, that of the API and that of the recipes: `403 not_allowed`. */
const [ofTheApi = [], ofRecipes = []] = [
  ...page.matchAll(/\n\| code \| `error` \| meaning \|\n[^\n]*\n((?:\|[^\n]*\n)+)/g),
].map(([, table = '']) =>
  [...table.matchAll(/^\| (\d+) \| ([^|]*) \|/gm)].flatMap(([, code, words = '']) =>
    (words.match(/\w+/g) ?? []).map((word) => `${code} ${word}`),
  ),
);

describe('the refusals', () => {
  test('of the API are those that the server has', () => {
    const known = Object.entries(refusals).map(([word, { status }]) => `${status} ${word}`);
    expect(known.length).toBeGreaterThan(8);
    expect([...ofTheApi].sort()).toEqual(known.sort());
  });

  test('of recipes are those that the routes have', () => {
    const gate = ['400 bad_request', '401 unauthorized', '404 not_found', '429 rate_limited', '500 failed'];
    const known = Object.entries(statusOf).map(([word, status]) => `${status} ${word}`);
    expect([...ofRecipes].sort()).toEqual([...new Set([...gate, ...known])].sort());
  });

  test('are sent as they are documented: the code, and an object of `error` and `message`', async () => {
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
    expect(sent.sort()).toEqual(ofTheApi.filter((one) => one !== '413 too_large').sort());
  });
});

const sha256 = (token: string) => createHash('sha256').update(token).digest('hex');
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

/** How each refusal comes about. A body that is too large: test/regression/request-bodies.test.ts. */
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
  { path: '/api/mailboxes/acme/none' },
  { path: '/api/operations/pause', method: 'POST' },
  { path: '/api/fleet', headers: { authorization: 'Bearer wrong' }, count: 11 },
  { path: '/api/deliveries', options: { deliveries: failing } },
  { path: '/api/operations/pause', headers: json, method: 'POST', body: '{}' },
  { path: '/events?at=/', options: { liveLimits: { ...usualLimits, readers: 0 } } },
];

/** The names of all fields, however deep: `mailboxes[].email`. */
function fieldsOf(value: unknown, at = ''): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((one) => fieldsOf(one, `${at}[]`));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inside]) => [`${at}.${name}`, ...fieldsOf(inside, `${at}.${name}`)]);
}

/** The JSON under the heading of a route. */
function exampleOf(route: string): unknown {
  const [, section = ''] = page.split(`\n## ${route}\n`);
  return JSON.parse(/```json\n(.*?)```/s.exec(section)?.[1] ?? 'null');
}

describe('the example of', () => {
  const silence = {
    ...{ id: 's-1', match: { rule: ['dns_*'] }, by: 'root', reason: 'DNS moves', from: now - 1, until: now + 1 },
  };
  const entry = {
    ...{ id: 1, at: now, by: 'root', reason: '', name: 'pause', command: 'pause x', account: 'acme', mailboxes: [] },
    ...{ end: 'done' as const, endedAt: now, outcome: 'Paused.' },
  };
  test.each(['/api/fleet', '/api/alerts', '/api/silences', '/api/history'])('%s has real fields', async (path) => {
    const fleet = exampleFleet();
    fleet.putSilence(silence);
    await using server = await serve(fleet, {
      history: { commands: async () => [entry], guardActions: async () => [] },
    });
    const real = new Set(fieldsOf(JSON.parse((await ask(server.url + path)).body.toString())));
    const shown = fieldsOf(exampleOf(`GET ${path}`)).filter((field) => !field.startsWith('.states.'));
    expect(shown.length).toBeGreaterThan(3);
    expect(shown.filter((field) => !real.has(field))).toEqual([]);
  });
});
