// `warmwarden check` as a process sees it: lines on the right stream, and the exit code.
import { afterEach, describe, expect, test, vi } from 'vitest';
import { commandLine } from '../support/command-line.ts';

const folder = 'test/config';

afterEach(() => {
  vi.unstubAllEnvs();
});

async function run(file: string, environment: Record<string, string> = {}, ...more: readonly string[]) {
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  const { code: status, ...said } = await commandLine(['check', '--config', `${folder}/${file}`, ...more]);
  return { status, ...said };
}

describe('check', () => {
  test('says every problem on stderr, one a line, and exits with 2', async () => {
    expect(await run('bad/unknown-key.yaml')).toEqual({
      status: 2,
      stdout: '',
      stderr: 'test/config/bad/unknown-key.yaml:5:1 pol: unknown key (did you mean poll?)\n',
    });
  });

  test('with --json the problems of an invalid file are JSON as well', async () => {
    const { status, stdout, stderr } = await run('bad/unknown-key.yaml', {}, '--json');
    expect([status, stderr, JSON.parse(stdout)]).toEqual([
      2,
      '',
      {
        error: {
          code: 'configuration',
          message: 'test/config/bad/unknown-key.yaml:5:1 pol: unknown key (did you mean poll?)',
          problems: [{ line: 5, column: 1, path: 'pol', message: 'unknown key (did you mean poll?)' }],
        },
      },
    ]);
  });

  test('takes a mailbox as ACCOUNT/ADDRESS, and refuses one that no account guards', async () => {
    const environment = { API_KEY: 'sk_live_1234' };
    const named = await run('good.yaml', environment, '--mailbox', 'acme/a@one.example');
    expect([named.status, named.stdout.split('\n')[0]]).toEqual([0, '# acme/a@one.example, on account acme']);
    const unknown = await run('good.yaml', environment, '--mailbox', 'other/a@one.example');
    expect([unknown.status, unknown.stdout]).toEqual([2, '']);
    expect(unknown.stderr).toContain(
      'No account guards a mailbox called other/a@one.example. Name it by its address or id, or as ACCOUNT/ADDRESS; the accounts are acme.\n',
    );
  });

  test('says what a valid file holds, with its warnings, and exits with 0', async () => {
    expect(await run('good.yaml', { API_KEY: 'sk_live_1234' })).toEqual({
      status: 0,
      stdout: 'test/config/good.yaml is valid: 1 account, no channels\n',
      stderr: 'warning: test/config/good.yaml:1:1 alerts.channels: there is no channel: no alert will be sent\n',
    });
  });
});
