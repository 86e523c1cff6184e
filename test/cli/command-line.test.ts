// The command line as a person meets it: help with examples, errors without a stack, status in a glance.
import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { globalAgent } from 'node:http';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { minuteMs } from '../../src/core/time.ts';
import { commandLine } from '../support/command-line.ts';
import { Stage } from '../support/guarded.ts';
import { workInEmptyFolder } from '../support/new-folder.ts';
import { hasProc, node, root, Workplace } from '../support/process.ts';
import { until } from '../support/until.ts';

const good = 'test/config/good.yaml';
afterEach(() => {
  vi.unstubAllEnvs();
});

test('a mistake is a sentence with what was meant and where help is, and ends with 2', async () => {
  expect(await commandLine(['alerts', 'list', '--detials'])).toEqual({
    code: 2,
    stdout: '',
    stderr: "error: unknown option '--detials'\n(Did you mean --details?)\nTry `warmwarden alerts list --help`.\n",
  });
});

test('a command asks only for the secrets that it uses: backtest for the keys of accounts, decide for none', async () => {
  using place = new Workplace();
  const config = place.configure({
    accounts: [{ name: 'acme', base_url: 'http://127.0.0.1:9', api_key: '$' + '{NO_KEY}' }],
    guard: { limits: { slow: '10%' } },
  });
  writeFileSync(place.path('stats.json'), '{"stats": [{"date": "2026-01-01", "sent": 10, "bounced": 1}]}');
  expect((await commandLine(['backtest', '--config', config])).stderr).toContain('NO_KEY');
  const decide = ['decide', '--mode', 'slow', '--stats', place.path('stats.json'), '--config', config];
  expect(JSON.parse((await commandLine(decide)).stdout)).toMatchObject({ limit_percent: 10 });
});

test('an error is a sentence with a remedy, and shows a stack for --debug only', async () => {
  const args = ['explain', 'a@b.example', '--config', good];
  const plain = await commandLine(args);
  expect(plain.code).toBe(1);
  expect(plain.stderr).toMatch(
    /^No daemon answers: nothing is guarded\.\nStart it with `warmwarden run --config FILE`; `warmwarden doctor .*\n$/,
  );
  expect((await commandLine([...args, '--debug'])).stderr).toContain('    at ');
});

test('a reader that has seen enough ends a command without a word', () => {
  const line = '"$0" src/bin.js simulator --help | true';
  const asked = spawnSync('bash', ['-c', line, node], { encoding: 'utf8', cwd: root });
  expect([asked.status, asked.stderr]).toEqual([0, '']);
});

test.each([
  [['undo'], 'warmwarden undo --since 1h'],
  [['silence', 'add'], 'warmwarden silence add --rule dns_failing --for 4h'],
  [['store', 'copy', '--from', 'data/x.db'], 'sqlite:./data/warmwarden.db'],
])('%s shows an example of what it lacks', async (args, example) => {
  const { code, stderr } = await commandLine([...args, '--config', good]);
  expect([code, stderr]).toEqual([2, expect.stringContaining(example)]);
});

test.each([
  [['writes', 'off'], 'error: writes off needs --reason TEXT: others will want to know why'],
  [['writes', 'on', '--for', '1h'], 'error: --for is for writes off only'],
  [['demo', '--speed', 'x'], 'error: --speed is a number from 1 to 3600'],
  [['demo', '--port', '70000'], 'error: --port is a whole number from 0 to 65535'],
])('%s is a mistake that ends with 2', async (args, sentence) => {
  const { code, stderr } = await commandLine(args);
  expect([code, stderr.split('\n')[0]]).toEqual([2, sentence]);
});

describe('the configuration', () => {
  test('that is not there ends with how to begin one', async () => {
    expect(await commandLine(['check', '--config', 'none.yaml'])).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'none.yaml does not exist.\nName your file with --config FILE or in WARMWARDEN_CONFIG. To create one: warmwarden init\n',
    });
  });

  test('is the one that WARMWARDEN_CONFIG names, unless --config names another', async () => {
    vi.stubEnv('API_KEY', 'sk_live_1234');
    vi.stubEnv('WARMWARDEN_CONFIG', good);
    expect((await commandLine(['check'])).stdout).toContain(`${good} is valid`);
    expect((await commandLine(['check', '--config', 'none.yaml'])).stderr).toMatch(/^none\.yaml does not exist\./);
    vi.stubEnv('WARMWARDEN_CONFIG', 'other.yaml');
    expect((await commandLine(['status'])).stderr).toMatch(
      /^other\.yaml, which WARMWARDEN_CONFIG names, does not exist\./,
    );
  });

  test('is looked for in every usual place, and each of them is named', async () => {
    vi.stubEnv('WARMWARDEN_CONFIG', '');
    workInEmptyFolder();
    expect((await commandLine(['check'])).stderr.split('\n')[0]).toBe(
      'There is no configuration: WARMWARDEN_CONFIG is not set, and neither ./config.yaml nor /etc/warmwarden/config.yaml exists.',
    );
  });
});

test('`writes on` beside no daemon, as messages name it, asks for nothing but a yes', async () => {
  const { code, stderr } = await commandLine(['writes', 'on', '--yes', '--config', good]);
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^There is no store at .* to create the store\.\n$/)]);
});

test('status shows the fleet of the running daemon, and that nobody guards when it is gone', async () => {
  await using stage = await Stage.open();
  stage.api.add('fine@a.example');
  const burning = stage.api.add('burning@a.example', { mode: 'unheard' });
  stage.start();
  await stage.daemon.onDuty();
  const ask = async (...more: readonly string[]) => {
    const { code, stdout: text, stderr } = await commandLine(['status', '--config', stage.config, ...more]);
    return { code, lines: text.trimEnd().split('\n'), text, stderr };
  };
  const shown = await until('both judged', async () => {
    const answer = await ask();
    return answer.text.includes('Not judged') && answer.text.includes('OK ') && answer;
  });
  const rows = shown.lines.filter((line) => line.includes('@a.example'));
  expect(rows.map((row) => row.split(/ {2,}/)[1])).toEqual([burning.email, 'fine@a.example']);
  const { mailboxes } = JSON.parse((await ask('--json')).text) as { mailboxes: { email: string }[] };
  expect(mailboxes).toHaveLength(2);
  // As at a start, which loads the store before it listens.
  rmSync(join(dirname(stage.config), 'data/warmwarden.db.sock'));
  globalAgent.destroy();
  const starting = await ask();
  if (hasProc) expect(starting.stderr).toMatch(/^(Warmwarden is starting|A daemon) \(process \d+ on .*\)/);
  expect([starting.stderr.includes('nothing is guarded'), starting.text, starting.code]).toEqual([!hasProc, '', 1]);
  await stage.daemon.killNow();
  const dead = await ask();
  expect([dead.code, dead.text]).toEqual([1, '']);
  expect(dead.stderr).toMatch(/^No daemon answers: nothing is guarded\. Data from \d+ \w+ \d\d:\d\d UTC\.\n/);
  const { error } = JSON.parse((await ask('--json')).text);
  expect(error).toMatchObject({ code: 'no_daemon', data_from: expect.stringMatching(/Z$/) });
  expect(Date.now() - Date.parse(error.data_from)).toBeLessThan(minuteMs);
});
