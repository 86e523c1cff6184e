// `warmwarden check` as a process sees it: lines on the right stream, and the exit code.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { inherited } from '../support/process.ts';

const check = join(import.meta.dirname, '../../src/commands/check.ts');
const program = `import { checkCommand } from ${JSON.stringify(check)}; await checkCommand().parseAsync(process.argv.slice(1), { from: 'user' });`;

function run(file: string, environment: Record<string, string> = {}) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', program, '--', '--config', file],
    { cwd: import.meta.dirname, env: { ...inherited(), ...environment }, encoding: 'utf8' },
  );
  return { status, stdout, stderr };
}

describe('check', () => {
  test('says every problem on stderr, one a line, and exits with 2', () => {
    expect(run('bad/unknown-key.yaml')).toEqual({
      status: 2,
      stdout: '',
      stderr: 'bad/unknown-key.yaml:5:1 pol: unknown key (did you mean poll?)\n',
    });
  });

  test('says what a valid file holds, with its warnings, and exits with 0', () => {
    expect(run('good.yaml', { API_KEY: 'sk_live_1234' })).toEqual({
      status: 0,
      stdout: 'good.yaml is valid: 1 account, 0 channels\n',
      stderr: 'warning: good.yaml:1:1 alerts.channels: there is no channel: nobody will be told\n',
    });
  });
});
