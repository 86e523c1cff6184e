// Completion: the script of bash in a real bash, with mailbox names of a store; those of zsh and fish as text.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hourMs } from '../../src/core/time.ts';
import { Store } from '../../src/store/store.ts';
import { commandLine } from '../support/command-line.ts';
import { fillStore } from '../support/filled-store.ts';
import { root } from '../support/process.ts';

const folder = mkdtempSync(join(tmpdir(), 'warmwarden-completion-'));
const config = join(folder, 'config.yaml');
const script = (await commandLine(['completion', 'bash'])).stdout;

beforeAll(async () => {
  const accounts = ['acme', 'beta'].map((name) => ({ name, base_url: 'http://127.0.0.1:9', api_key: 'sk_live_1' }));
  const channel = { name: 'ops', type: 'webhook', url: 'http://127.0.0.1:9' };
  writeFileSync(config, JSON.stringify({ accounts, store: { url: 'sqlite:./w.db' }, alerts: { channels: [channel] } }));
  await fillStore(join(folder, 'w.db'), [
    { account: 'acme', email: 'ann@one.example' },
    { account: 'acme', email: 'both@one.example' },
    { account: 'beta', email: 'both@one.example' },
    { account: 'acme', email: '$(touch x)@one.example' },
  ]);
  const store = await Store.open(join(folder, 'w.db'), Date.now());
  const silence = { id: 's1', match: { rule: ['dns_failing'] }, by: 'ann', reason: 'a move' };
  await store.silences.record({ ...silence, from: Date.now(), until: Date.now() + hourMs }, Date.now());
  await store.close();
  // What the script asks for is answered here: a process of ours per question would be slow.
  mkdirSync(join(folder, 'bin'));
  const answers = 'case $2 in mailbox) echo ann@one.example acme/both@one.example;; *) echo a-$2;; esac';
  writeFileSync(join(folder, 'bin/warmwarden'), `#!/bin/sh\n${answers}\n`);
  chmodSync(join(folder, 'bin/warmwarden'), 0o755);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** What bash offers after a line; its words broken as bash breaks them. */
function complete(line: string): readonly string[] {
  const words = `warmwarden ${line}`.match(/[@:=]|[^\s@:=]+|(?<=\s)$/g) ?? [];
  const listed = words.map((word) => `'${word}'`).join(' ');
  const state = `COMP_WORDS=(${listed}); COMP_CWORD=${words.length - 1}; COMP_LINE='warmwarden ${line}'; COMP_POINT=\${#COMP_LINE}`;
  const run = `eval "$(cat)"; ${state}; _warmwarden; echo "\${COMPREPLY[@]}"`;
  const env = { PATH: `${join(folder, 'bin')}:${process.env['PATH']}` };
  return spawnSync('bash', ['-c', run], { input: script, encoding: 'utf8', cwd: root, env }).stdout.trim().split(' ');
}

describe('of bash', () => {
  test('knows commands, commands below them, choices, options and files', () => {
    expect(complete('sta')).toEqual(['status']);
    expect(complete('channels re')).toEqual(['resend']);
    expect(complete('writes o')).toEqual(['off', 'on']);
    expect(complete('reload --d')).toEqual(['--dry-run']);
    expect(complete('status --config config.ex')).toEqual(['config.example.yaml']);
    expect(complete('token new bot --role s')).toEqual(['scraper']);
  });

  test('knows the guarded mailboxes, also beyond an @, where bash breaks words', () => {
    expect(complete('pause an')).toEqual(['ann@one.example']);
    expect(complete('pause ann@')).toEqual(['one.example']);
    expect(complete('contest release ann@one')).toEqual(['one.example']);
    expect(complete('history --config c.yaml --mailbox acme/')).toEqual(['acme/both@one.example']);
    expect(complete('history --mailbox ann@')).toEqual(['one.example']);
    expect(complete('pause --d')).toEqual(['--dry-run']);
  });

  test('knows recipes, silences and channels, each where one is named first', () => {
    expect(complete('recipes run a')).toEqual(['a-recipe']);
    expect(complete('recipes run --config c.yaml a')).toEqual(['a-recipe']);
    expect(complete('silence expire a')).toEqual(['a-silence']);
    expect(complete('channels test a')).toEqual(['a-channel']);
    expect(complete('channels resend a')).toEqual(['a-channel']);
    expect(complete('mode ann@one.example a')).toEqual(['aggressive']);
    expect(complete('recipes run a-recipe a')).toEqual(['']);
  });
});

describe('the names of mailboxes', () => {
  const names = async (prefix: string, ...line: readonly string[]) =>
    commandLine(['__names', 'mailbox', '--prefix', prefix, '--', ...line]);

  test('are those of the configuration on the line, with the account where it is needed', async () => {
    expect(await names('', 'pause', '--config', config)).toEqual({
      code: 0,
      stdout: 'acme/both@one.example\nann@one.example\nbeta/both@one.example\n',
      stderr: '',
    });
    expect((await names('ANN', 'pause', '--config', config)).stdout).toBe('ann@one.example\n');
    expect((await names('acme/a', 'pause', '--config', config)).stdout).toBe('acme/ann@one.example\n');
  });

  test('leave out what a shell would expand, and are none where nothing is known', async () => {
    expect((await names('$', 'pause', '--config', config)).stdout).toBe('');
    expect(await names('', 'pause', '--config', 'none.yaml')).toEqual({ code: 0, stdout: '', stderr: '' });
  });
});

test('the names of recipes, silences and channels are those of the configuration on the line', async () => {
  const names = async (kind: string, prefix = '') =>
    (await commandLine(['__names', kind, '--prefix', prefix, '--', '--config', config])).stdout;
  expect(await names('channel')).toBe('ops\n');
  expect(await names('recipe', 'why')).toBe('why-paused\n');
  expect(await names('silence')).toBe('s1\n');
});

test.each(['zsh', 'fish'])('of %s knows the same', async (shell) => {
  const { stdout } = await commandLine(['completion', shell]);
  for (const path of ['channels resend', 'silence add', 'status', 'contest release'])
    expect(stdout).toContain(`"${path}"`);
  expect(stdout).toContain('__names ');
  expect(stdout).toMatch(/\brecipe\b.*\n/);
  expect(stdout).toContain('viewer operator scraper');
  expect(stdout).not.toMatch(/undefined|\[object/);
});
