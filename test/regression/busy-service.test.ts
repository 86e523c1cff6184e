// A service with too many runs was said to have perhaps started one, so nobody dared to ask again.
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import { RecipeApi } from '../../src/recipes/client/client.ts';
import type { RecipeRunner } from '../../src/recipes/runner.ts';
import { systemClock, type World } from '../../src/world/world.ts';
import { MemoryRuns } from '../support/memory-runs.ts';
import { recipeRunner } from '../support/recipe-runner.ts';
import { type Running, serve, stillWorld } from '../web/running-server.ts';

const world: World = {
  clock: systemClock(),
  random: () => 0.5,
  log: pino({ level: 'silent' }),
  command: 'warmwarden',
};
const caller = { name: 'bot', role: 'viewer' as const, plan: null };
let release: () => void;
let runner: RecipeRunner;
let server: Running;

/** No run gets further than its start. */
class StuckRuns extends MemoryRuns {
  readonly #gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  override async write(...[run, chunks]: Parameters<MemoryRuns['write']>): ReturnType<MemoryRuns['write']> {
    if (run.status === 'running') await this.#gate;
    return super.write(run, chunks);
  }
}

const start = (by: string, of = runner) =>
  of.start({ recipe: 'at-risk', parameters: {}, apply: false, by, role: 'viewer' });

beforeAll(async () => {
  runner = recipeRunner(stillWorld(), { runs: new StuckRuns() });
  server = await serve(new Fleet(), { recipes: { service: runner, world, callerOf: () => caller } });
  for (let runs = 0; runs < 102; runs += 1) await start(`key-${runs % 5}`);
});
afterAll(async () => {
  const closed = runner.close();
  release();
  await closed;
  await server[Symbol.asyncDispose]();
});

test('a run that is asked for while 100 wait was not started, and the service says why', async () => {
  const api = new RecipeApi({ baseUrl: `${server.url}/v1`, apiKey: 'any' }, world);
  const refused = await api.trigger({ recipe: 'at-risk', parameters: {}, apply: false });
  await api.close();
  const said = expect.stringMatching(/^100 runs are already waiting: try again later\./);
  expect(refused).toMatchObject({ kind: 'not_started', said });
});

test('one key can have a quarter of the waiting runs: then it gets 429 and Retry-After, and others still start theirs', async () => {
  const shared = recipeRunner(stillWorld(), { runs: new MemoryRuns() });
  await using other = await serve(new Fleet(), { recipes: { service: shared, world, callerOf: () => caller } });
  const accepted: string[] = [];
  for (let runs = 0; runs < 40; runs += 1) {
    const run = await start('bot', shared);
    accepted.push('refused' in run ? run.refused : run.status);
  }
  const waiting = accepted.filter((state) => state === 'queued').length;
  expect([waiting, accepted.at(-1)]).toEqual([25, 'share_used']);
  const refused = await fetch(`${other.url}/v1/recipes/at-risk/runs`, { method: 'POST' });
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5']);
  expect(await refused.json()).toMatchObject({
    error: 'share_used',
    message: expect.stringContaining('25 runs of bot'),
  });
  expect(await start('another', shared)).toMatchObject({ status: 'queued' });
  await shared.close();
});
