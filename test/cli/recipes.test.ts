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

const limits = ['--tag', 'client=north', '--account', 'a', 'b'];
const head = 'server:\n  auth:\n    tokens:\n      - {name: "bot", sha256: "DIGEST", role: ';
const unlimited = { name: 'bot', plan: null, tags: null, accounts: null };
const asLimited = 'viewer, tags: ["client=north"], accounts: ["a","b"]}';

test.each([
  [['--role', 'operator'], `${head}operator}`, { ...unlimited, kind: 'token', role: 'operator' }],
  [limits, `${head}${asLimited}`, { tags: ['client=north'], accounts: ['a', 'b'] }],
  [
    ['--recipe-key', '--plan', 'cloud'],
    'recipes:\n  api_keys:\n    - {name: "bot", sha256: "DIGEST", role: viewer, plan: cloud}',
    { ...unlimited, kind: 'recipe_key', role: 'viewer', plan: 'cloud' },
  ],
])('token new %s prints a token once, and the digest that lets it in', async (options, lines, said) => {
  workInEmptyFolder();
  const made = await warmwarden('token', 'new', 'bot', ...options, '--json');
  const { token, sha256: digest, ...rest } = JSON.parse(made.stdout);
  expect([digest, rest]).toEqual([sha256(token), expect.objectContaining(said)]);
  const { stdout } = await warmwarden('token', 'new', 'bot', ...options);
  expect(stdout.replace(/[0-9a-f]{64}/, 'DIGEST')).toContain(`\n${lines}\n`);
});

test.each([
  [['--role', 'operator', ...limits]],
  [['--recipe-key', ...limits]],
  [['--plan', 'pro']],
  [['--recipe-key', '--role', 'scraper']],
])('token new %s is a mistake', async (options) => {
  expect(await warmwarden('token', 'new', 'bot', ...options)).toMatchObject({ code: 2 });
});
