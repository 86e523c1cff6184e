// The command line as a person meets it: help with examples, completion, errors without a stack, status in a glance.
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { globalAgent } from 'node:http';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { examples } from '../../src/cli/examples.ts';
import { statusText } from '../../src/cli/status/table.ts';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import { guardStates } from '../../src/core/mailbox.ts';
import { stateBadge } from '../../src/web/page/parts/elements.ts';
import { commandLine } from '../support/command-line.ts';
import { workInEmptyFolder } from '../support/empty-folder.ts';
import { Stage } from '../support/guarded.ts';
import { bin, hasProc, inherited, node, root } from '../support/process.ts';
import { until } from '../support/until.ts';
import { serve } from '../web/running-server.ts';

const good = 'test/config/good.yaml';
const help = (await commandLine(['--help'])).stdout;
const names = [...help.matchAll(/^ {2}([a-z]+)(?: .*)?$/gm)]
  .map(([, name = '']) => name)
  .filter((one) => one !== 'help');

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('help', () => {
  test('names the commands and the exit codes', () => {
    expect(names).toEqual(expect.arrayContaining(['run', 'check', 'status', 'reload', 'completion']));
    expect(help).toContain('Exit codes:\n  0  done, also when there was nothing to do\n  1  failed');
  });

  test('has examples for every command', async () => {
    expect(names.filter((name) => !examples[name])).toEqual([]);
    expect((await commandLine(['status', '--help'])).stdout).toContain('Examples:\n  warmwarden status\n');
  });

  test('shows what a command requires, in its usage and beside the option', async () => {
    const { stdout } = await commandLine(['silence', 'add', '--help']);
    expect(stdout).toContain('Usage: warmwarden silence add --for <duration> --reason <text> [options]\n');
    expect(stdout).toMatch(/--for <duration> +how long, for example 2h \(required\)\n/);
    expect(stdout.match(/\(required\)/g)).toHaveLength(2);
    expect((await commandLine(['status', '--help'])).stdout).toContain('Usage: warmwarden status [options]\n');
  });

  test('is named after a mistake, which ends with 2', async () => {
    expect(await commandLine(['status', '--wach'])).toEqual({
      code: 2,
      stdout: '',
      stderr: "error: unknown option '--wach'\n(Did you mean --watch?)\nTry `warmwarden status --help`.\n",
    });
  });
});

describe('an error', () => {
  const args = ['explain', 'a@b.example', '--config', good];

  test('is a sentence with a remedy, and shows a stack for --debug only', async () => {
    const plain = await commandLine(args);
    expect(plain.code).toBe(1);
    expect(plain.stderr).toMatch(
      /^No daemon answers: nothing is guarded\.\nStart it with `warmwarden run --config FILE`; `warmwarden doctor .*\n$/,
    );
    expect((await commandLine([...args, '--debug'])).stderr).toContain('    at ');
  });

  test('is JSON on standard output with --json, and nothing else', async () => {
    const failed = await commandLine([...args, '--json']);
    expect([failed.code, failed.stderr]).toEqual([1, '']);
    expect(JSON.parse(failed.stdout)).toEqual({
      error: { code: 'no_daemon', message: expect.stringMatching(/^No daemon answers: nothing is guarded\.\n/) },
    });
    const usage = await commandLine(['status', '--wach', '--json']);
    expect([usage.code, usage.stderr]).toEqual([2, '']);
    expect(JSON.parse(usage.stdout)).toEqual({
      error: { code: 'usage', message: "unknown option '--wach'\n(Did you mean --watch?)" },
    });
  });

  test('ends the process with its exit code', () => {
    const { status, stderr } = spawnSync(node, [bin, ...args], { encoding: 'utf8', cwd: root, env: inherited() });
    expect([status, stderr]).toEqual([1, expect.stringMatching(/^No daemon answers: /)]);
  });
});

test('a reader that has seen enough ends a command without a word', () => {
  const line = '"$0" src/bin.js completion bash | true';
  const asked = spawnSync('bash', ['-c', line, node], { encoding: 'utf8', cwd: root });
  expect([asked.status, asked.stderr]).toEqual([0, '']);
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
        'none.yaml does not exist.\nName your file with --config FILE or in WARMWARDEN_CONFIG. To create one: cp config.example.yaml config.yaml\n',
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

describe('beside no daemon', () => {
  const config = ['--config', good];

  test('`writes on`, as messages name it, asks for nothing but a yes', async () => {
    const { code, stderr } = await commandLine(['writes', 'on', '--yes', ...config]);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^There is no store at .* to create the store\.\n$/)]);
  });

  test.each([
    ['status'],
    ['alerts', 'list'],
    ['silence', 'list'],
    ['explain', 'a@b.example'],
    ['history'],
    ['recipes', 'list'],
    ['recipes', 'run', 'at-risk'],
    ['pause', 'a@b.example', '--yes'],
  ])('%s %s says first that nothing is guarded', async (...args) => {
    const { code, stdout, stderr } = await commandLine([...args, ...config]);
    const said = expect.stringMatching(/^No daemon answers: nothing is guarded\.\nStart it with /);
    expect([code, stdout, stderr]).toEqual([1, '', said]);
  });
});

/** An account as `status` reads it, with nothing wrong. */
const withoutTrouble = {
  requests_per_minute: 97,
  limit_per_minute: 100,
  last_success_at: null,
  failing_since: null,
  last_failure: null,
  key_rejected: false,
  writable: true,
  judging_failure: null,
  listed: true,
  unlisted: [],
  guarded_elsewhere: [],
  health: 'ok',
  queue_length: 0,
  oldest_due_at: null,
  last_write_at: null,
} as const;
const sweepFacts = { since: '', part: 'judging', mailboxes: 7, read: 3, done_at: null } as const;

describe('status', () => {
  test('shows the fleet of the running daemon, and that nobody guards when it is gone', async () => {
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
    expect(dead.stderr).toMatch(/^No daemon answers: nothing is guarded\.\n/);
    expect(JSON.parse((await ask('--json')).text)).toMatchObject({ error: { code: 'no_daemon' } });
  });

  test('says how far the first sweep of each account is, once', () => {
    const sweep = (name: string, text: string) => ({ ...withoutTrouble, name, first_sweep: { ...sweepFacts, text } });
    const answer = {
      at: '2026-03-10T10:12:00.000Z',
      time_zone: 'UTC',
      headline:
        'First sweep of acme: 3 of 7 mailboxes read, done in about 11 min (10:23 UTC). 4 mailboxes not judged, 3 OK.',
      advice: 'Wait until the first sweep is done.',
      tone: 'unknown',
      accounts: [
        sweep('acme', 'First sweep of acme: 3 of 7 mailboxes read, done in about 11 min (10:23 UTC)'),
        sweep(
          'beta',
          'First sweep of beta: 1 of 3 mailboxes read for connection, DNS and blacklists, done in about 2 min',
        ),
        { ...withoutTrouble, name: 'gamma', first_sweep: null },
      ],
      channels: [],
      alert_groups: [],
      incidents: [],
      alerts_firing: 0,
      total: 0,
      mailboxes: [],
    } as const;
    const lines = statusText(answer, { columns: 120, rows: null, style: (_, plain) => plain }).split('\n');
    expect(lines.filter((line) => line.startsWith('First sweep of'))).toEqual([
      answer.headline,
      'First sweep of beta: 1 of 3 mailboxes read for connection, DNS and blacklists, done in about 2 min',
    ]);
  });

  test('names the mailboxes that the configuration includes and the list does not have', () => {
    const unlisted = Array.from({ length: 7 }, (_, number) => `m${number}@a.example`);
    const answer = {
      at: '2026-03-10T10:12:00.000Z',
      time_zone: 'UTC',
      headline: 'All fine.',
      advice: 'Nothing to do.',
      tone: 'calm',
      accounts: [{ ...withoutTrouble, name: 'acme', first_sweep: null, unlisted }],
      channels: [],
      alert_groups: [],
      incidents: [],
      alerts_firing: 0,
      total: 0,
      mailboxes: [],
    } as const;
    expect(statusText(answer, { columns: 200, rows: null, style: (_, plain) => plain })).toContain(
      'account acme: NOT GUARDED, not in the mailbox list: m0@a.example, m1@a.example, m2@a.example, m3@a.example, m4@a.example and 2 more',
    );
  });

  test('says below an alert that its messages are silenced, until when and by whom', () => {
    const dns = { rule: 'dns_failing', severity: 'critical', since: '2026-03-10T10:00:00.000Z' } as const;
    const until = '2026-03-10T12:12:00.000Z';
    const answer = {
      ...{ at: '2026-03-10T10:12:00.000Z', time_zone: 'Europe/Berlin', headline: 'Two alerts.', advice: 'Look.' },
      tone: 'alarm',
      ...{ accounts: [], channels: [], incidents: [], total: 0, mailboxes: [] },
      alert_groups: [
        { ...dns, title: 'a.example: SPF does not pass', silenced: { by: 'anna', until }, count: 1 },
        { ...dns, title: 'b.example: SPF does not pass', silenced: null, count: 1 },
      ],
      alerts_firing: 3,
    } as const;
    expect(
      statusText(answer, { columns: 80, rows: 30, style: (_, plain) => plain })
        .split('\n')
        .slice(2),
    ).toEqual([
      'critical  a.example: SPF does not pass',
      `          silenced until 10 March 13:12 Europe/Berlin by anna`,
      'critical  b.example: SPF does not pass',
      '... and 1 more alert',
      '`alerts list --details` shows what to do about each alert',
      '',
      '',
    ]);
  });

  test('is never wider or higher than the screen, and colours only when asked', () => {
    const mailbox = {
      account: 'acme',
      id: 'm',
      email: `${'long'.repeat(20)}\u202e@a.example`,
      state: 'held',
      mode: 'slow',
      stats_at: '2026-03-10T10:00:00.000Z',
      alerts: ['bounce_over_limit', 'guard_blind'],
      verdict: { sent: 200, bounced: 3, rate_percent: 1.5, limit_percent: 0.5, emergency: false },
    } as const;
    const answer = {
      at: '2026-03-10T10:12:00.000Z',
      time_zone: 'UTC',
      headline: 'One mailbox is over its limit, and this sentence is much too long for the screen.',
      advice: 'Look.',
      tone: 'alarm',
      accounts: [],
      channels: [],
      alert_groups: [],
      incidents: [],
      alerts_firing: 0,
      total: 40,
      mailboxes: Array.from({ length: 40 }, () => mailbox),
    } as const;
    const text = statusText(answer, { columns: 70, rows: 12, style: (_, plain) => plain });
    const lines = text.trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(12);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(70);
    expect(text).toContain('3 of 200  1.5 %  0.5 %  12 min');
    expect(text).not.toContain('\u202e');
    expect(lines.at(-1)).toMatch(/^\.\.\. and 3\d more, none of them worse/);
  });

  test('says beside OK why Warmwarden cannot read the account or act on it', () => {
    const on = (name: string, trouble: Partial<Record<keyof typeof withoutTrouble, unknown>>) =>
      ({ ...withoutTrouble, name, first_sweep: null, ...trouble }) as typeof withoutTrouble & {
        readonly name: string;
        readonly first_sweep: null;
      };
    const since = '2026-03-10T10:00:00.000Z';
    const row = (account: string, state: 'ok' | 'held' = 'ok') => ({
      ...{ account, id: account, email: 'a@a.example', state, mode: 'slow', stats_at: since, alerts: [] },
      verdict: null,
    });
    const answer = {
      ...({
        at: '2026-03-10T10:12:00.000Z',
        time_zone: 'UTC',
        headline: 'Look.',
        advice: 'Look.',
        tone: 'alarm',
      } as const),
      ...{
        channels: [],
        alert_groups: [],
        incidents: [],
        alerts_firing: 0,
        total: 5,
      },
      accounts: [
        on('fine', {}),
        on('reader', { writable: false }),
        on('down', { failing_since: since }),
        on('wrong', { failing_since: since, key_rejected: true }),
      ],
      mailboxes: [row('reader', 'held'), row('fine'), row('reader'), row('down'), row('wrong')],
    };
    const text = statusText(answer, { columns: 80, rows: null, style: (_, plain) => plain });
    const lines = text.trimEnd().split('\n').slice(-answer.total);
    expect(lines.map((line) => line.split(/ {2,}/)[0])).toEqual([
      ...['Held', 'OK', 'OK, read-only key', 'OK, API down', 'OK, key rejected'],
    ]);
  });

  test('names each state as the page does, in 80 columns', () => {
    const rows = guardStates.map((state) => ({
      ...{ account: 'acme', id: state, email: 'someone.with.a.name@a.example', state, mode: 'aggressive' },
      ...{ stats_at: '2026-03-10T10:00:00.000Z', alerts: ['bounce_over_limit'] },
      verdict: { sent: 200, bounced: 3, rate_percent: 1.5, limit_percent: 0.5, emergency: true },
    }));
    const answer = {
      ...({
        at: '2026-03-10T10:12:00.000Z',
        time_zone: 'UTC',
        headline: 'Look.',
        advice: 'Look.',
        tone: 'alarm',
      } as const),
      ...{ accounts: [], channels: [], alert_groups: [], incidents: [] },
      ...{ alerts_firing: 0, total: rows.length, mailboxes: rows },
    };
    const text = statusText(answer, { columns: 80, rows: null, style: (_, plain) => plain });
    const lines = text.trimEnd().split('\n').slice(-rows.length);
    expect(lines.map((line) => line.split(/ {2,}/)[0])).toEqual(
      guardStates.map((state) => /">(.*)<\/span>$/.exec(`${stateBadge(state, state === 'held')}`)?.[1]),
    );
    for (const line of lines) expect(line).toMatch(/^.{0,80}$/);
    for (const line of lines) expect(line).toMatch(/ someone\.wit.*aggressive +3 of 200 +1\.5 % +0\.5 % +bounc/);
  });
});

test('alerts list says of what there is none', async () => {
  await using server = await serve(new Fleet());
  const list = async (...more: readonly string[]) =>
    (await commandLine(['alerts', 'list', '--url', server.url, ...more])).stdout;
  expect(await list()).toBe('No alert is firing.\n');
  expect(await list('--all')).toBe('No alert is firing or pending.\n');
  expect(await list('--severity', 'critical', 'warning')).toBe(
    'No alert with severity critical or warning is firing.\n',
  );
});
