// Runs of recipes that were carried out although they were refused, waited although they were cancelled, or were said to have
// perhaps started where the service has too many.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import { dayMs, hourMs, minuteMs, secondMs } from '../../src/core/time.ts';
import { RecipeApi } from '../../src/recipes/client/client.ts';
import { openRecipes } from '../../src/recipes/open.ts';
import type { RecipeRunner } from '../../src/recipes/runner.ts';
import type { RunStore } from '../../src/store/runs.ts';
import { Loops } from '../../src/world/loop.ts';
import { testStore } from '../outbox/test-store.ts';
import { newFolder } from '../support/new-folder.ts';
import { endedRun, recipeRunner, startedRun } from '../support/recipe-runner.ts';
import { until } from '../support/until.ts';
import { serve, stillWorld } from '../web/running-server.ts';

/** A ledger whose writes can fail, or wait once a run is running. */
function troubledRuns() {
  const { runs } = testStore();
  const write = runs.write.bind(runs);
  /** While `gate` is pending, no run gets further than its start. */
  const trouble = { failing: false, refused: 0, gate: Promise.resolve() };
  runs.write = async (run, chunks) => {
    if (trouble.failing) {
      trouble.refused += 1;
      throw new Error('database or disk is full');
    }
    if (run.status === 'running') await trouble.gate;
    return write(run, chunks);
  };
  return { runs, trouble };
}

/** A runner whose runs get no further than their start until `open`. */
function stuckRunner() {
  const { runs, trouble } = troubledRuns();
  const { promise, resolve: open } = Promise.withResolvers<void>();
  trouble.gate = promise;
  return { runs, open, runner: recipeRunner(stillWorld(), { runs }) };
}

const start = (runner: RecipeRunner, by: string) =>
  runner.start({ recipe: 'at-risk', parameters: {}, apply: false, by, role: 'viewer' });
const servedBy = (service: RecipeRunner) =>
  serve(new Fleet(), {
    recipes: { service, world: stillWorld(), callerOf: () => ({ name: 'bot', role: 'viewer', plan: null }) },
  });

test('one that could not be recorded is refused, and is not carried out when the next one is', async () => {
  const { runs, trouble } = troubledRuns();
  const runner = recipeRunner(stillWorld(), { runs });
  trouble.failing = true;
  await expect(startedRun(runner)).rejects.toThrow('disk is full');
  trouble.failing = false;
  const next = await startedRun(runner);
  await endedRun(runner, next.id);
  await runner.close();
  expect((await runs.newest('at-risk', 10)).map(({ id }) => id)).toEqual([next.id]);
});

test('one that waits for its turn ends at once when it is cancelled, and never begins', async () => {
  const { runner, runs, open } = stuckRunner();
  const running = [await startedRun(runner), await startedRun(runner)];
  const waiting = await startedRun(runner);
  expect(await runner.cancel(waiting.id)).toMatchObject({ status: 'cancelled', startedAt: null });
  open();
  for (const { id } of running) await endedRun(runner, id);
  expect(await runs.read(waiting.id)).toMatchObject({ status: 'cancelled', startedAt: null });
  await runner.close();
});

test('one that is asked for while 100 wait was not started, and the service says why', async () => {
  const { runner, open } = stuckRunner();
  await using server = await servedBy(runner);
  for (let runs = 0; runs < 102; runs += 1) await start(runner, `key-${runs % 5}`);
  const api = new RecipeApi({ baseUrl: `${server.url}/v1`, apiKey: 'any' }, stillWorld());
  const refused = await api.trigger({ recipe: 'at-risk', parameters: {}, apply: false });
  await api.close();
  const said = expect.stringMatching(/^100 runs are already waiting: try again later\./);
  expect(refused).toMatchObject({ kind: 'not_started', said });
  open();
  await runner.close();
});

test('one key can have a quarter of the waiting runs: then it gets 429 and Retry-After, and others still start theirs', async () => {
  const { runner, open } = stuckRunner();
  await using server = await servedBy(runner);
  const accepted: string[] = [];
  for (let runs = 0; runs < 40; runs += 1) {
    const run = await start(runner, 'bot');
    accepted.push('refused' in run ? run.refused : run.status);
  }
  const waiting = accepted.filter((state) => state === 'queued').length;
  expect([waiting, accepted.at(-1)]).toEqual([25, 'share_used']);
  const refused = await fetch(`${server.url}/v1/recipes/at-risk/runs`, { method: 'POST' });
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5']);
  const message = expect.stringContaining('25 runs of bot');
  expect(await refused.json()).toMatchObject({ error: 'share_used', message });
  expect(await start(runner, 'another')).toMatchObject({ status: 'queued' });
  open();
  await runner.close();
});

const noon = Date.parse('2026-03-12T03:20:00Z');

/** The daily recipe of a daemon that has just started. */
async function dailyRecipe(runs: RunStore) {
  const world = stillWorld();
  const folder = newFolder();
  const text =
    "id: daily\ntitle: t\ndescription: d\nselect: SELECT 1 AS one\nschedule: {cron: '20 3 * * *', time_zone: UTC}\n";
  writeFileSync(join(folder, 'daily.yaml'), text);
  const recipes = await openRecipes({
    ...{ world, loops: new Loops(world), store: { runs }, fleet: new Fleet(), nearLimitPpmOf: () => 800_000 },
    ...{ place: '/nowhere/store.db', folder: () => folder, retentionMs: () => 9 * dayMs, operate: () => null },
  });
  for (const loop of recipes.loops) loop.start();
  const write = (recipe: string) => writeFileSync(join(folder, 'daily.yaml'), recipe);
  const later = (what: string, isSo: () => Promise<boolean> | boolean) =>
    until(what, async () => {
      await world.clock.advance(10 * secondMs);
      return isSo();
    });
  const close = async () => {
    for (const loop of recipes.loops) await loop.stop();
    await recipes.runner.close();
  };
  return { world, later, write, text, [Symbol.asyncDispose]: close };
}

test('a scheduled run that the store refuses is made with a later look', async () => {
  const { runs, trouble } = troubledRuns();
  await using daily = await dailyRecipe(runs);
  const { clock } = daily.world;
  await daily.later('noon', () => clock.now() >= noon - minuteMs);
  trouble.failing = true;
  await daily.later('a refused start', () => trouble.refused > 0);
  trouble.failing = false;
  await daily.later('the run', async () => (await runs.newest('daily', 10)).length > 0);
  expect(clock.now()).toBeLessThan(noon + hourMs);
});

test('a scheduled run that was missed is made up for, however many runs people made since', async () => {
  const { runs } = testStore();
  const runner = recipeRunner(stillWorld(), { runs });
  const { id } = await startedRun(runner);
  const run = { ...(await endedRun(runner, id)), recipe: 'daily' };
  await runner.close();
  const days = [2, ...Array.from({ length: 120 }, () => 1)];
  for (const [index, ago] of days.entries())
    await runs.write({ ...run, id: `${index}`, by: ago > 1 ? 'schedule' : 'anna', createdAt: noon - ago * dayMs });
  await using daily = await dailyRecipe(runs);
  await daily.later('the run', async () => (await runs.newest('daily', 1))[0]?.by === 'schedule');
  expect(daily.world.clock.now()).toBeLessThan(noon);
});

test('a schedule that was taken away and put back makes up for nothing', async () => {
  const { runs } = testStore();
  await using daily = await dailyRecipe(runs);
  const { clock } = daily.world;
  const passed = (minutes: number) => daily.later('the time', () => clock.now() >= noon + minutes * minuteMs);
  await passed(1);
  daily.write(daily.text.replace(/schedule.*/, ''));
  await passed(3);
  daily.write(daily.text.replace('20 3', '22 3'));
  await passed(5);
  expect(await runs.newest('daily', 10)).toHaveLength(1);
});
