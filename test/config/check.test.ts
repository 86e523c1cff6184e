// `warmwarden check` as a process sees it: lines on the right stream, and the exit code.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { inherited } from '../support/process.ts';

const check = join(import.meta.dirname, '../../src/commands/check.ts');
const program = `import { checkCommand } from ${JSON.stringify(check)}; await checkCommand().parseAsync(process.argv.slice(1), { from: 'user' });`;

function run(file: string, environment: Record<string, string> = {}, ...more: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', program, '--', '--config', file, ...more],
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

  test('with --json the problems of an invalid file are JSON as well', () => {
    const { status, stdout } = run('bad/unknown-key.yaml', {}, '--json');
    expect([status, JSON.parse(stdout)]).toEqual([
      2,
      {
        file: 'bad/unknown-key.yaml',
        valid: false,
        problems: [{ line: 5, column: 1, path: 'pol', message: 'unknown key (did you mean poll?)' }],
      },
    ]);
  });

  test('takes a mailbox as ACCOUNT/ADDRESS, and refuses one that no account guards', () => {
    const environment = { API_KEY: 'sk_live_1234' };
    const named = run('good.yaml', environment, '--mailbox', 'acme/a@one.example');
    expect([named.status, named.stdout.split('\n')[0]]).toEqual([
      0,
      '# acme/a@one.example, when it stands on account acme',
    ]);
    const unknown = run('good.yaml', environment, '--mailbox', 'other/a@one.example');
    expect([unknown.status, unknown.stdout]).toEqual([2, '']);
    expect(unknown.stderr).toContain(
      'No account guards a mailbox called other/a@one.example. Name it by its address or id, or as ACCOUNT/ADDRESS; the accounts are acme.\n',
    );
  });

  test('says what a valid file holds, with its warnings, and exits with 0', () => {
    expect(run('good.yaml', { API_KEY: 'sk_live_1234' })).toEqual({
      status: 0,
      stdout: 'good.yaml is valid: 1 account, 0 channels\n',
      stderr: 'warning: good.yaml:1:1 alerts.channels: there is no channel: nobody will be told\n',
    });
  });
});
