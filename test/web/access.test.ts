// Who is let in: tokens and roles, host names, and headers against script.
import { request } from 'node:http';
import { describe, expect, test } from 'vitest';
import { networkOf } from '../../src/web/access/addresses.ts';
import type { Auth } from '../../src/web/access/auth.ts';
import { callersOf } from '../../src/web/recipes/recipe-routes.ts';
import type { World } from '../../src/world/world.ts';
import { recipeRunner } from '../support/recipe-runner.ts';
import { sha256 } from '../support/sha256.ts';
import type { Answer } from './browser.ts';
import { exampleFleet } from './example-fleet.ts';
import { ask, serve, stillWorld } from './running-server.ts';

const tokens: Auth = {
  tokens: [
    { name: 'ops', sha256: sha256('operator-token'), role: 'operator' },
    { name: 'eyes', sha256: sha256('viewer-token'), role: 'viewer' },
    { name: 'prom', sha256: sha256('scraper-token'), role: 'scraper' },
  ],
};
const auth = () => tokens;
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const basic = (token: string) => ({ authorization: `Basic ${Buffer.from(`anybody:${token}`).toString('base64')}` });

describe('tokens', () => {
  test('are asked for everywhere but at the probes', async () => {
    await using server = await serve(exampleFleet(), { auth });
    for (const path of ['/', '/metrics', '/api/fleet', '/mailboxes/acme/m1', '/nowhere']) {
      const answer = await ask(server.url + path);
      expect([path, answer.status]).toEqual([path, 401]);
      expect(String(answer.headers['www-authenticate'])).toMatch(/Basic realm.*Bearer realm/);
      expect(answer.body.toString()).not.toContain('acme.example');
    }
    for (const path of ['/healthz', '/readyz', '/assets/style.css', '/sign-in'])
      expect((await ask(server.url + path)).status).toBe(200);
  });

  test('open by role: a scraper reads metrics and nothing else', async () => {
    await using server = await serve(exampleFleet(), { auth });
    const statusOf = async (path: string, headers: Record<string, string>) =>
      (await ask(server.url + path, headers)).status;
    for (const way of [bearer, basic]) {
      for (const path of ['/', '/api/fleet', '/metrics']) {
        expect(await statusOf(path, way('viewer-token'))).toBe(200);
        expect(await statusOf(path, way('operator-token'))).toBe(200);
      }
      expect(await statusOf('/metrics', way('scraper-token'))).toBe(200);
      expect(await statusOf('/', way('scraper-token'))).toBe(403);
      expect(await statusOf('/api/alerts', way('scraper-token'))).toBe(403);
    }
  });

  test('are refused when they are wrong, empty, or only the digest', async () => {
    await using server = await serve(exampleFleet(), { auth });
    const wrong = [bearer('viewer-toke'), bearer(sha256('viewer-token')), basic(''), { authorization: 'Bearer' }];
    for (const headers of [...wrong, { authorization: 'Basic !!!' }, { authorization: 'Digest viewer-token' }])
      expect((await ask(`${server.url}/`, headers)).status).toBe(401);
  });
});

describe('without tokens', () => {
  test.each([
    [403, ['evil.example', 'evil.example:80', 'localhost.evil.example', '127.0.0.1.evil.example']],
    [200, ['localhost', '127.0.0.1:7025', '[::1]:7025', 'LOCALHOST.', '192.0.2.7', 'guard.internal:7025']],
  ])('a name that was turned to us is refused, and no other: %i', async (status, hosts) => {
    await using server = await serve(exampleFleet(), { allowedHosts: () => ['guard.internal'] });
    for (const path of ['/', '/metrics'])
      for (const host of hosts) expect([host, (await ask(server.url + path, { host })).status]).toEqual([host, status]);
  });
});

describe('the server', () => {
  test('guards every answer with headers against script, sniffing and frames', async () => {
    await using server = await serve(exampleFleet());
    for (const path of ['/', '/nowhere', '/api/fleet', '/metrics']) {
      const { headers } = await ask(server.url + path);
      expect(headers['content-security-policy']).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
      expect(headers['content-security-policy']).not.toContain('unsafe');
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(headers['x-frame-options']).toBe('DENY');
      expect(headers['referrer-policy']).toBe('same-origin');
    }
  });
});

/** A world that keeps the warnings that are logged. */
function watchedWorld() {
  const world = stillWorld();
  const warnings: { readonly fields: Record<string, unknown>; readonly message: string }[] = [];
  const warn = (fields: Record<string, unknown>, message: string) => void warnings.push({ fields, message });
  return { ...world, warnings, log: Object.assign(Object.create(world.log), { warn }) as World['log'] };
}

const operator = (token: string) => () => {
  return { tokens: [{ name: 'ops', sha256: sha256(token), role: 'operator' as const }] };
};

/** Asks from another address of this machine. */
function askFrom(localAddress: string, url: string, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers, localAddress }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode ?? 0));
    });
    sent.on('error', reject).end();
  });
}

async function guesses(url: string, count: number, headersOf: (token: string) => Record<string, string>) {
  const answers: Answer[] = [];
  for (let guess = 0; guess < count; guess += 1) answers.push(await ask(url, headersOf(`guess-${guess}`)));
  return answers;
}

test('an empty password is no token, even where the digest of an empty text is configured', async () => {
  await using server = await serve(exampleFleet(), { auth: operator('') });
  for (const headers of [basic(''), { authorization: 'Bearer ' }, basic(' ')]) {
    expect((await ask(`${server.url}/api/fleet`, headers)).status).toBe(401);
  }
});

describe('wrong tokens', () => {
  test('are answered 429 after ten from one address; a right one, and another address, never are', async () => {
    const world = watchedWorld();
    await using server = await serve(exampleFleet(), { auth: operator('right'), world });
    const url = `${server.url}/api/fleet`;
    const answers = await guesses(url, 32, basic);
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(10);
    const slowed = answers.filter(({ status }) => status === 429);
    expect(slowed).toHaveLength(22);
    expect(new Set(slowed.map(({ headers }) => headers['retry-after']))).toEqual(new Set(['60']));
    expect((await ask(url, basic('right'))).status).toBe(200);
    expect(await askFrom('127.0.0.2', url, basic('wrong'))).toBe(401);
    expect((await ask(url)).status).toBe(401);

    const lineOf = (address: string) => ({ fields: { address }, message: 'wrong token' });
    expect(world.warnings).toEqual([...Array(10).fill(lineOf('127.0.0.1')), lineOf('127.0.0.2')]);
    await world.clock.advance(60_000);
    expect((await ask(url, basic('wrong'))).status).toBe(401);
  });

  test('are slowed and logged as keys of the recipe API, too', async () => {
    const world = watchedWorld();
    const keys = [{ name: 'bot', sha256: sha256('right'), plan: 'agency' as const, role: 'viewer' as const }];
    const recipes = { service: recipeRunner(world), world, callerOf: callersOf(() => keys) };
    await using server = await serve(exampleFleet(), { recipes, world });
    const url = `${server.url}/v1/recipes`;
    const statuses = (await guesses(url, 12, bearer)).map(({ status }) => status);
    expect(statuses).toEqual([...Array(10).fill(401), 429, 429]);
    expect((await ask(url, bearer('right'))).status).toBe(200);
    expect(world.warnings).toHaveLength(10);
  });
});

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  [undefined, 'unknown'],
])('%s is counted as %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});
