// Tokens: one whose digest was that of an empty text let anybody in, and 2,000 guesses took 7.6 s without a line in the log.
import { request } from 'node:http';
import { describe, expect, test } from 'vitest';
import { networkOf } from '../../src/web/access/auth.ts';
import { callersOf } from '../../src/web/recipes/recipe-routes.ts';
import type { World } from '../../src/world/world.ts';
import { recipeRunner } from '../support/recipe-runner.ts';
import { sha256 } from '../support/sha256.ts';
import type { Answer } from '../web/browser.ts';
import { exampleFleet } from '../web/example-fleet.ts';
import { ask, serve, stillWorld } from '../web/running-server.ts';

const operator = (token: string) => {
  return { tokens: [{ name: 'ops', sha256: sha256(token), role: 'operator' as const }] };
};
const basic = (token: string) => ({ authorization: `Basic ${btoa(`x:${token}`)}` });
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

/** A world that keeps the warnings that are logged. */
function watchedWorld() {
  const world = stillWorld();
  const warnings: { readonly fields: Record<string, unknown>; readonly message: string }[] = [];
  const warn = (fields: Record<string, unknown>, message: string) => void warnings.push({ fields, message });
  return { ...world, warnings, log: Object.assign(Object.create(world.log), { warn }) as World['log'] };
}

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
  await using server = await serve(exampleFleet(), { auth: () => operator('') });
  for (const headers of [basic(''), { authorization: 'Bearer ' }, basic(' ')]) {
    expect((await ask(`${server.url}/api/fleet`, headers)).status).toBe(401);
  }
});

describe('wrong tokens', () => {
  test('are answered 429 after ten from one address; a right one, and another address, never are', async () => {
    const world = watchedWorld();
    await using server = await serve(exampleFleet(), { auth: () => operator('right'), world });
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
