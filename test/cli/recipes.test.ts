// `warmwarden recipes` beside a daemon; `warmwarden token new`.
import { expect, test, vi } from 'vitest';
import { commandLine } from '../support/command-line.ts';
import { Stage } from '../support/guarded.ts';
import { startServer } from '../support/loopback.ts';
import { workInEmptyFolder } from '../support/new-folder.ts';
import { sha256 } from '../support/sha256.ts';
import { until } from '../support/until.ts';

const warmwarden = (...args: string[]) => commandLine(args);

test('the running daemon answers as a table, JSON or CSV, and says what is wrong with exit code 1', async () => {
  await using stage = await Stage.open();
  stage.api.add('\u001b[31mred@one.example');
  const daemon = stage.start();
  await daemon.onDuty();
  const recipes = (...args: string[]) => warmwarden('recipes', ...args, '--config', stage.config);
  const listed = await recipes('list');
  expect([listed.code, listed.stderr]).toEqual([0, '']);
  expect(listed.stdout).toMatch(/^pause-domain +Pause a domain +domain +pause$/m);
  expect(listed.stdout).toMatch(/^stale-data .* \[minutes\]/m);
  const shown = await until('the mailbox to be known', async () => {
    const { code, stdout, stderr } = await recipes('run', 'fleet-overview');
    expect([code, stderr]).toEqual([0, expect.stringMatching(/row/)]);
    return stdout.includes('one.example') && stdout;
  });
  expect(shown).not.toContain('\u001b');
  const json = JSON.parse((await recipes('run', 'fleet-overview', '--json')).stdout);
  expect(json).toMatchObject({ status: 'succeeded', row_count: 1 });
  expect((await recipes('run', 'fleet-overview', '--csv')).stdout).toMatch(/^[a-z_]+,.*\r\n/);
  expect(await recipes('run', 'stale-data', '--param', 'minutes=soon')).toMatchObject({
    code: 2,
    stderr: 'The parameter minutes must be a whole number.\n',
  });
  const mistake = async (...args: string[]) => (await recipes('run', ...args)).stderr.trimEnd();
  expect(await mistake('stale-dta')).toBe('No recipe is called stale-dta (did you mean stale-data?).');
  expect(await mistake('nothing-like-it')).toContain('`recipes list`');
  expect(await mistake('pause-domain')).toContain('--param domain=');
  expect(await mistake('stale-data', '--param', 'minuts=3')).toContain('(did you mean minutes?)');
  await daemon.said('a run ended');
});

test('a dry run says how to carry it out, and speaks of --dry-run only where it was given', async () => {
  vi.stubEnv('WARMWARDEN_API_KEY', 'k');
  const rows = [{ email: 'a@acme.example', outcome: 'planned' }];
  const run = { id: 'r1', recipe: 'pause-domain', status: 'succeeded', columns: ['email', 'outcome'], rows };
  await using server = await startServer((_, response) =>
    response.end(JSON.stringify({ ...run, row_count: 1, truncated: false })),
  );
  const said = async (...options: string[]) =>
    (await commandLine(['recipes', 'run', 'pause-domain', '--url', server.url, ...options])).stderr;
  expect(await said()).toBe('1 row. Nothing was done: this was a dry run. To carry out the actions, add --apply.\n');
  expect(await said('--dry-run')).toContain('add --apply and leave out --dry-run.');
  vi.unstubAllEnvs();
});

test('token new prints a token once, and the digest that lets it in', async () => {
  workInEmptyFolder();
  const made = await warmwarden('token', 'new', 'bot', '--role', 'operator', '--json');
  const { token, sha256: digest, ...rest } = JSON.parse(made.stdout);
  expect(digest).toBe(sha256(token));
  expect(rest).toEqual({ name: 'bot', kind: 'token', role: 'operator', plan: null });
  const { stdout } = await warmwarden('token', 'new', 'bot', '--role', 'scraper');
  expect(stdout).toMatch(
    /^server:\n {2}auth:\n {4}tokens:\n {6}- \{name: "bot", sha256: "[0-9a-f]{64}", role: scraper\}$/m,
  );
});

test('token new makes keys of the recipe API, too', async () => {
  workInEmptyFolder();
  const made = await warmwarden('token', 'new', 'bot', '--recipe-key', '--plan', 'cloud', '--json');
  expect(JSON.parse(made.stdout)).toMatchObject({ name: 'bot', kind: 'recipe_key', plan: 'cloud', role: 'viewer' });
  const { stdout } = await warmwarden('token', 'new', 'bot', '--recipe-key');
  expect(stdout).toMatch(/^recipes:\n {2}api_keys:\n {4}- \{name: "bot", .*, role: viewer, plan: pro\}$/m);
  expect(await warmwarden('token', 'new', 'bot', '--plan', 'pro')).toMatchObject({ code: 2 });
  expect(await warmwarden('token', 'new', 'bot', '--recipe-key', '--role', 'scraper')).toMatchObject({ code: 2 });
});
