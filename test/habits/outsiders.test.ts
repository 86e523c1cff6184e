// Somebody without a token, or with a recipe key alone, learns no path of the machine; and a function that is called by hand blames no row.
import { mkdirSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import type { Operate } from '../../src/core/operator-command.ts';
import { readinessOf } from '../../src/daemon/readiness.ts';
import { performStep } from '../../src/recipes/execution.ts';
import { openSandbox } from '../../src/recipes/sandbox.ts';
import { movedError } from '../../src/store/failure.ts';
import { arrivedMailbox, now } from '../store/records.ts';
import { root, runDaemon, Workplace } from '../support/process.ts';
import { endedRun, recipeRunner, startedRun } from '../support/recipe-runner.ts';
import { noFacts } from '../support/selected.ts';
import { sha256 } from '../support/sha256.ts';
import { until } from '../support/until.ts';
import { stillWorld } from '../web/running-server.ts';

it('answers to those outside name neither the program’s path nor the configuration’s', async () => {
  using workplace = new Workplace();
  mkdirSync(workplace.path('recipes'));
  writeFileSync(workplace.path('recipes/broken.yaml'), 'id: [');
  const recipe = 'id: same\ntitle: Same\ndescription: Same.\nselect: SELECT account FROM mailboxes\n';
  for (const name of ['one', 'two']) writeFileSync(workplace.path(`recipes/${name}.yaml`), recipe);
  const config = workplace.configure({
    accounts: [{ name: 'acme', base_url: 'http://127.0.0.1:19', api_key: 'sk_live_any' }],
    store: { url: 'sqlite:./data/warmwarden.db' },
    server: { listen: '127.0.0.1:0', auth: { tokens: [{ name: 'ann', sha256: sha256('ww_ann'), role: 'viewer' }] } },
    recipes: {
      directory: './recipes',
      api_keys: [{ name: 'crm', sha256: sha256('ww_crm'), plan: 'agency', role: 'viewer' }],
    },
  });
  await using daemon = runDaemon(config);
  const url = await until('it listens', () => /http:\/\/127\.0\.0\.1:\d{4,}/.exec(daemon.stdout + daemon.stderr)?.[0]);
  const headers = { authorization: 'Bearer ww_crm' };
  const answers = await Promise.all([
    fetch(`${url}/v1/recipes/none/runs`, { method: 'POST', headers }),
    fetch(`${url}/v1/recipes`, { headers }),
    fetch(`${url}/v1/recipes`),
    fetch(`${url}/`, { headers: { accept: 'text/html' } }),
    fetch(`${url}/sign-in`),
    fetch(`${url}/api/fleet`),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([404, 200, 401, 401, 200, 401]);
  const said = await Promise.all(answers.map((answer) => answer.text()));
  expect(said[0]).toContain('Some files are not valid recipes');
  expect(said[1]).toContain('is taken by one.yaml');
  for (const text of said)
    for (const path of [workplace.folder, root, process.execPath]) expect(text).not.toContain(path);
});

it('readiness names the files of a store that fails without their folders', () => {
  const fleet = new Fleet();
  const failure = { ...movedError('/srv/ww/store.db'), said: movedError('/srv/ww/store.db').message, lasting: true };
  fleet.putStoreFailure(failure, now);
  const [, store = ''] = readinessOf({ fleet, operate: null, zone: 'UTC', now: 0 }).reasons;
  expect(store).toMatch(/: store\.db was deleted or replaced .* Move the original store\.db back with `mv`/);
  expect(store).not.toContain('/srv');
});

it('a run whose SELECT finds no store says so without its path', async () => {
  const runner = recipeRunner(stillWorld(), { place: '/srv/ww/store.db' });
  const { error } = await endedRun(runner, (await startedRun(runner)).id);
  await runner.close();
  expect(error).toBe('SQLite says: unable to open database');
});

it('what a run did or would do names no path', async () => {
  const step = { operation: 'limit', reason: 'r', limit: 20 } as const;
  const mailbox = () => arrivedMailbox('m1', { account: 'acme' });
  const context = { apply: true, by: 'crm', recipe: 'own', approved: null };
  const messageOf = async (operate: Operate) =>
    (await performStep(step, { account: 'acme', mailbox_id: 'm1' }, { operate, mailbox }, context)).message;
  const failing = async () => {
    throw new Error('/srv/ww/store.db was deleted. Make /srv/ww/store.db and its folder /srv/ww writable.');
  };
  expect(await messageOf(failing)).toBe('store.db was deleted. Make store.db and its folder ww writable.');
});

it.each([
  ["explain_verdict('{')", 'explain_verdict takes the values of the views, but was given {.'],
  ["guard_state('acme', 'm1', 'x')", 'guard_state takes the values of the views, but was given x.'],
  ["paused_text('[', '[]', '[]')", 'paused_text takes the values of the views, but was given [.'],
  ["day_rows('{}')", 'day_rows takes the values of the views, but was given {}.'],
])('%s says what the function takes', (call, message) => {
  using sandbox = openSandbox(null, noFacts);
  expect(() => sandbox.prepare(`SELECT ${call}`).all()).toThrow(message);
});
