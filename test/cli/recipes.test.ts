// `warmwarden recipes` beside a daemon; `warmwarden token new`.
import { expect, test, vi } from 'vitest';
import { commandLine } from '../support/command-line.ts';
import { startServer } from '../support/loopback.ts';
import { workInEmptyFolder } from '../support/new-folder.ts';
import { sha256 } from '../support/sha256.ts';

const warmwarden = (...args: string[]) => commandLine(args);

test('a dry run says how to carry it out, and speaks of --dry-run only where it was given; no name colours the table', async () => {
  vi.stubEnv('WARMWARDEN_API_KEY', 'k');
  const rows = [{ email: '\u001b[31mred@acme.example', outcome: 'planned' }];
  const run = { id: 'r1', recipe: 'pause-domain', status: 'succeeded', columns: ['email', 'outcome'], rows };
  await using server = await startServer((_, response) =>
    response.end(JSON.stringify({ ...run, row_count: 1, truncated: false })),
  );
  const said = async (...options: string[]) => {
    const { stdout, stderr } = await warmwarden('recipes', 'run', 'pause-domain', '--url', server.url, ...options);
    expect([stdout.includes('red@acme.example'), stdout.includes('\u001b')]).toEqual([true, false]);
    return stderr;
  };
  expect(await said()).toBe('1 row. Nothing was done: this was a dry run. To carry out the actions, add --apply.\n');
  expect(await said('--dry-run')).toContain('add --apply and leave out --dry-run.');
  vi.unstubAllEnvs();
});

test('token new prints a token once, and the digest that lets it in', async () => {
  workInEmptyFolder();
  const made = await warmwarden('token', 'new', 'bot', '--role', 'operator', '--json');
  const { token, sha256: digest, ...rest } = JSON.parse(made.stdout);
  expect(digest).toBe(sha256(token));
  expect(rest).toEqual({ name: 'bot', kind: 'token', role: 'operator', plan: null, tags: null, accounts: null });
  const { stdout } = await warmwarden('token', 'new', 'bot', '--role', 'scraper');
  expect(stdout).toMatch(
    /^server:\n {2}auth:\n {4}tokens:\n {6}- \{name: "bot", sha256: "[0-9a-f]{64}", role: scraper\}$/m,
  );
});

test('token new limits a viewer to tags and accounts, and nobody else', async () => {
  workInEmptyFolder();
  const limits = ['--tag', 'client=north', '--account', 'a', 'b'];
  const { stdout } = await warmwarden('token', 'new', 'north', ...limits);
  expect(stdout).toMatch(/role: viewer, tags: \["client=north"\], accounts: \["a","b"\]\}$/m);
  const limited = await warmwarden('token', 'new', 'north', ...limits, '--json');
  expect(JSON.parse(limited.stdout)).toMatchObject({ tags: ['client=north'], accounts: ['a', 'b'] });
  for (const role of [['--role', 'operator'], ['--recipe-key']])
    expect(await warmwarden('token', 'new', 'north', ...role, ...limits)).toMatchObject({ code: 2 });
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
