// `warmwarden token new`: its lines, pasted where it says, let the token in, whatever the configuration has already.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { commandLine } from '../support/command-line.ts';
import { Workplace } from '../support/process.ts';

const accounts = 'accounts: [{name: acme, base_url: "https://x.example", api_key: sk_live_key, plan: pro}]';
const digest = createHash('sha256').update('another').digest('hex');
const other = `{name: other, sha256: "${digest}", role: viewer}`;
const files: Readonly<Record<string, string>> = {
  'nothing of it': accounts,
  'a server that listens': `${accounts}\nserver:\n    # where\n    listen: "127.0.0.1:7000"\nlog: {level: warn}`,
  'an empty server': `server:\n${accounts}`,
  'no auth': `${accounts}\nserver:\n  auth: none\n  listen: "127.0.0.1:7000"`,
  'an empty auth': `${accounts}\nserver:\n  auth:\n  listen: "127.0.0.1:7000"`,
  'a list': `${accounts}\nserver:\n  auth:\n    tokens:\n    - ${other}\n`,
  'a deep list': `server:\n    auth:\n        tokens:\n            # mine\n            - ${other}\n${accounts}`,
  'an empty list': `${accounts}\nserver:\n  auth:\n    tokens:\n`,
  'a list in brackets': `${accounts}\nserver: {auth: {tokens: [${other}]}}`,
  'braces without auth': `${accounts}\nserver: {listen: "127.0.0.1:7000"}`,
  json: JSON.stringify({ accounts: [{ name: 'a', base_url: 'https://x.example', api_key: 'sk_live_k', plan: 'pro' }] }),
};

/** Does what a person does: pastes the lines where it says. */
function pasted(text: string, where: string, added: readonly string[]): string {
  const lines = text.split('\n');
  const line = Number(/line (\d+)/.exec(where)?.[1] ?? lines.length);
  if (/^at the end/.test(where)) return [...lines, ...added].join('\n');
  if (/^below line/.test(where)) return lines.toSpliced(line, 0, ...added).join('\n');
  if (/^above line/.test(where)) return lines.toSpliced(line - 1, 0, ...added).join('\n');
  if (/^in place of line/.test(where)) return lines.toSpliced(line - 1, 1, ...added).join('\n');
  const [, kind, name = ''] =
    /^between the (brackets|braces) of (?:`(\w+)`|the file) .*after a comma/.exec(where) ?? [];
  const from = lines.slice(0, line - 1).join('\n').length;
  const open = text.indexOf(kind === 'brackets' ? '[' : '{', Math.max(0, text.indexOf(name, from))) + 1;
  return `${text.slice(0, open)}${added.join('\n')}, ${text.slice(open)}`;
}

test.each(Object.entries(files))('pasted into %s', async (_, text) => {
  using place = new Workplace();
  const file = place.configure(text);
  const { stdout, code } = await commandLine(['token', 'new', 'bot', '--role', 'operator', '--config', file]);
  expect(code).toBe(0);
  const [, where = '', after = ''] =
    /add this to \S+config\.yaml, (.*); then run `.* reload`:\n\n([\s\S]*)\n$/.exec(stdout) ?? [];
  place.configure(pasted(readFileSync(file, 'utf8'), where, after.split('\n')));
  const loaded = loadConfig(file, {});
  if (!loaded.ok) throw new Error(`${JSON.stringify(loaded.problems)}\n${readFileSync(file, 'utf8')}`);
  const { auth } = loaded.config.server;
  const names = auth === 'none' ? [] : auth.tokens.map(({ name }) => name);
  expect(names.toSorted()).toEqual(text.includes('other') ? ['bot', 'other'] : ['bot']);
});

test('a key of the recipe API goes where those are', async () => {
  using place = new Workplace();
  const file = place.configure(`${accounts}\nrecipes:\n  directory: ./recipes\n`);
  const { stdout } = await commandLine(['token', 'new', 'bot', '--recipe-key', '--config', file]);
  expect(stdout).toMatch(
    /, above line 3; then run `.* reload`:\n\n {2}api_keys:\n {4}- \{name: "bot", .*, plan: pro\}\n$/,
  );
});

test('without a file it says which of its lines may be there already', async () => {
  const { stdout } = await commandLine(['token', 'new', 'bot', '--config', '/no/such/file']);
  expect(stdout).toContain(
    'add this to the configuration, without those of the lines `server:`, `auth:`, `tokens:` that are there already; then',
  );
  expect(stdout).toMatch(/\n\nserver:\n {2}auth:\n {4}tokens:\n {6}- \{name: "bot", /);
});
