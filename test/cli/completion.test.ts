// Completion: the script of bash in a real bash, those of zsh and fish as text.
import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { commandLine } from '../support/command-line.ts';
import { root } from '../support/process.ts';

const script = (await commandLine(['completion', 'bash'])).stdout;

/** What bash offers after a line; its words broken as bash breaks them. */
function complete(line: string): readonly string[] {
  const words = `warmwarden ${line}`.match(/[@:=]|[^\s@:=]+|(?<=\s)$/g) ?? [];
  const listed = words.map((word) => `'${word}'`).join(' ');
  const state = `COMP_WORDS=(${listed}); COMP_CWORD=${words.length - 1}`;
  const run = `eval "$(cat)"; ${state}; _warmwarden; echo "\${COMPREPLY[@]}"`;
  return spawnSync('bash', ['-c', run], { input: script, encoding: 'utf8', cwd: root }).stdout.trim().split(' ');
}

describe('of bash', () => {
  test('knows commands, commands below them, choices, options and files', () => {
    expect(complete('sta')).toEqual(['status']);
    expect(complete('channels re')).toEqual(['resend']);
    expect(complete('writes o')).toEqual(['off', 'on']);
    expect(complete('reload --d')).toEqual(['--dry-run']);
    expect(complete('status --config config.ex')).toEqual(['config.example.yaml']);
    expect(complete('token new bot --role s')).toEqual(['scraper']);
    expect(complete('mode ann@one.example a')).toEqual(['aggressive']);
  });
});

test.each(['zsh', 'fish'])('of %s knows the same', async (shell) => {
  const { stdout } = await commandLine(['completion', shell]);
  for (const path of ['channels resend', 'silence add', 'status', 'contest release'])
    expect(stdout).toContain(`"${path}"`);
  expect(stdout).toContain('viewer operator scraper');
  expect(stdout).not.toMatch(/undefined|\[object/);
});
