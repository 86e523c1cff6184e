// Every command, in one table: with --help, with wrong arguments, without a daemon, beside one, without a terminal, with --json.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { allCommands } from '../../src/cli/main.ts';
import { errorShape, shapes } from '../../src/cli/shapes/shapes.ts';
import { loadConfig } from '../../src/config/load.ts';
import { alertId } from '../../src/core/alert.ts';
import { type Daemon, startDaemon } from '../../src/daemon/daemon.ts';
import { Store } from '../../src/store/store.ts';
import { demoKey } from '../../tools/simulator/keys.ts';
import { type Simulator, startSimulator } from '../../tools/simulator/simulator.ts';
import { sampleAlert } from '../alerts/samples.ts';
import { type Receiver, startReceiver, status } from '../outbox/receiver.ts';
import { commandLine } from '../support/command-line.ts';
import { folderOfFile } from '../support/new-folder.ts';
import { sha256 } from '../support/sha256.ts';
import { silentWorld } from '../support/silent-world.ts';
import { until } from '../support/until.ts';

interface Row {
  /** The words of the command. */
  readonly words: string;
  /** What it takes to do its work. MAILBOX, SILENCE and ALERT stand for one of the fleet. */
  readonly args?: readonly string[];
  /** What it does not understand; an unknown option without. */
  readonly wrong?: readonly string[];
  /** It reads or writes the store where no daemon answers. */
  readonly store?: true;
  /** The exit code where neither a daemon nor a store is. */
  readonly alone: 0 | 1 | 2;
  /** It changes something, so it is confirmed. */
  readonly changes?: true;
  /** It needs a server that is not here: test/store/copy.slow.ts has one. */
  readonly elsewhere?: true;
}

const mailbox = ['MAILBOX'];
const ofOps = ['--channel', 'ops'];
const reason = ['--reason', 'a test'];
const toPostgres = ['--from', 'sqlite:/nowhere/store.db', '--to', 'postgres://me@127.0.0.1:9/nowhere'];
const inSimulator = { args: [...mailbox, '--url', 'SIMULATOR'], wrong: [], alone: 1 } as const;
const ofSimulator = { args: ['--url', 'SIMULATOR'], wrong: ['too', 'much'], alone: 1 } as const;
const table: readonly Row[] = [
  { words: 'check', alone: 0 },
  { words: 'doctor', alone: 0 },
  { words: 'channels test', args: ['ops'], wrong: ['nobody'], alone: 0 },
  { words: 'channels preview', args: ['guard_acted', ...ofOps], wrong: ['guard_acting', ...ofOps], alone: 0 },
  { words: 'channels resend', args: ['ops', ...reason], alone: 1, changes: true },
  { words: 'decide', args: ['--mode', 'slow', '--stats', 'STATS'], wrong: ['--mode', 'unheard'], alone: 0 },
  { words: 'backtest', args: ['--days', '3'], wrong: ['--days', '91'], alone: 0 },
  { words: 'status', alone: 1 },
  { words: 'alerts list', args: ['--all'], wrong: ['--severity', 'grave'], alone: 1 },
  { words: 'ack', args: ['ALERT', ...reason], wrong: [], alone: 1, changes: true },
  { words: 'explain', args: mailbox, wrong: [...mailbox, '--limit', '0'], alone: 1 },
  { words: 'history', args: ['--guard'], wrong: ['--since', 'long'], alone: 1 },
  { words: 'pause', args: [...mailbox, ...reason], wrong: [], alone: 1, changes: true },
  { words: 'resume', args: [...mailbox, ...reason], wrong: [], alone: 1, changes: true },
  { words: 'mode', args: [...mailbox, 'slow', ...reason], wrong: [...mailbox, 'unheard'], alone: 1, changes: true },
  { words: 'limit', args: [...mailbox, '12', ...reason], wrong: [...mailbox, '0'], alone: 1, changes: true },
  {
    words: 'set',
    args: [...mailbox, 'reply_rate=30', ...reason],
    wrong: [...mailbox, 'mode=slow'],
    alone: 1,
    changes: true,
  },
  { words: 'connect', args: ['ROWS', '--dry-run'], wrong: ['nowhere.csv', '--yes'], alone: 0 },
  { words: 'undo', args: ['--since', '1h', ...reason], wrong: [], alone: 1, changes: true },
  { words: 'token new', args: ['bot', '--role', 'viewer'], wrong: ['bot', '--role', 'king'], alone: 0 },
  { words: 'recipes list', alone: 1 },
  { words: 'recipes run', args: ['at-risk'], wrong: ['at-risk', '--param', 'bounces'], alone: 1 },
  { words: 'breaker apply', args: reason, alone: 1, changes: true },
  { words: 'breaker discard', args: reason, alone: 1, changes: true },
  { words: 'contest end', args: [...mailbox, ...reason], wrong: [], alone: 1, changes: true },
  { words: 'writes', args: ['off', '--for', '1h', ...reason], wrong: ['off'], alone: 1, store: true, changes: true },
  { words: 'silence add', args: ['--rule', 'dns_*', '--for', '1h', ...reason], wrong: reason, alone: 1, changes: true },
  { words: 'silence list', alone: 1 },
  { words: 'silence expire', args: ['SILENCE', ...reason], wrong: [], alone: 1, changes: true },
  { words: 'store check', alone: 1, store: true },
  { words: 'store backup', args: ['BACKUP'], wrong: [], alone: 1, store: true },
  { words: 'store copy', args: toPostgres, alone: 1, elsewhere: true },
  { words: 'reload', args: ['--force', ...reason], alone: 1, changes: true },
  { words: 'simulator breach', ...inSimulator },
  { words: 'simulator emergency', ...inSimulator },
  { words: 'simulator dns-failure', ...inSimulator },
  { words: 'simulator disconnect', ...inSimulator },
  { words: 'simulator repair', ...inSimulator },
  { words: 'simulator raise-mode', ...inSimulator },
  { words: 'simulator raise-limit', ...inSimulator },
  { words: 'simulator pause', ...inSimulator },
  { words: 'simulator unwell', ...ofSimulator },
  { words: 'simulator clock-off', ...ofSimulator },
  { words: 'simulator well', ...ofSimulator },
];
/** They serve until they are stopped: --help and wrong arguments only. */
const withoutFacts = ['init', 'run', 'demo', 'simulator', 'mcp'];

const recipeKey = 'ww_a-recipe-key-of-this-test';

const folder = folderOfFile();
const known = new Map<string, string>();
let backups = 0;
let simulator: Simulator;
let receiver: Receiver;
let daemon: Daemon;

beforeAll(async () => {
  const world = silentWorld();
  const keys = [{ key: demoKey, permissions: ['read', 'write'], plan: 'enterprise' }] as const;
  simulator = await startSimulator({ world, scenario: 'calm', keys });
  receiver = await startReceiver();
  receiver.answer = status(200, {}, 'ok');
  for (const name of ['guarded', 'alone', 'newer']) writeConfig(name);
  await writeNewerStore(join(folder, 'newer.db'));
  writeFileSync(join(folder, 'stats.json'), '{"stats": []}');
  known.set('STATS', join(folder, 'stats.json'));
  known.set('ROWS', join(folder, 'rows.yaml'));
  const password = join(folder, 'stats.json');
  const hosts = { smtp_host: 'a.example', smtp_pass_file: password, imap_host: 'a.example', imap_pass_file: password };
  writeFileSync(join(folder, 'rows.yaml'), JSON.stringify([{ email: 'new@x.example', ...hosts }]));
  const file = configOf('guarded');
  const load = () => loadConfig(file, {});
  const started = load();
  if (!started.ok) throw new Error(JSON.stringify(started.problems));
  daemon = await startDaemon({ file, started, load }, world);
  const fleet = await until('all are judged', () => {
    const all = [...daemon.fleet.mailboxes()];
    return all.length > 0 && all.every(({ verdict }) => verdict !== null) && all;
  });
  known.set('MAILBOX', fleet[0]?.email ?? '');
  await run('silence add --rule stale_data --for 1h --yes --reason test', 'guarded');
  const { silences } = JSON.parse((await run('silence list --json', 'guarded')).stdout);
  known.set('SILENCE', silences[0].id);
  daemon.fleet.putAlert(sampleAlert(1));
  known.set('ALERT', alertId(sampleAlert(1)));
});

afterAll(async () => {
  await daemon.stop();
  await Promise.all([simulator.close(), receiver[Symbol.asyncDispose]()]);
});

function configOf(name: string): string {
  return join(folder, `${name}.yaml`);
}

function writeConfig(name: string): void {
  // Three of the twelve: the API's own limit spaces what a backtest reads.
  const mailboxes = { include: ['*@northbeam.example'] };
  const account = { name: 'acme', base_url: simulator.url, api_key: demoKey, requests_per_minute: 6_000, mailboxes };
  const config = {
    accounts: [account],
    alerts: { channels: [{ name: 'ops', type: 'slack', url: receiver.url }] },
    store: { url: `sqlite:./${name}.db` },
    server: { listen: '127.0.0.1:0' },
    recipes: { api_keys: [{ name: 'bot', sha256: sha256(recipeKey), plan: 'agency', role: 'operator' }] },
  };
  writeFileSync(configOf(name), JSON.stringify(config));
}

/** As a later version would leave it. */
async function writeNewerStore(path: string): Promise<void> {
  await (await Store.open(path, Date.now())).close();
  const database = new DatabaseSync(path);
  database.exec("UPDATE meta SET value = '9999' WHERE key = 'schema_version'");
  database.close();
}

async function run(line: string | readonly string[], config: string) {
  const argv = typeof line === 'string' ? line.split(' ') : line;
  const url = config === 'alone' ? 'http://127.0.0.1:9' : simulator.url;
  backups += 1;
  known.set('BACKUP', join(folder, `backup-${backups}.db`));
  const filled = argv.map((word) => (word === 'SIMULATOR' ? url : (known.get(word) ?? word)));
  const configured = !['decide', 'simulator', 'token'].includes(filled[0] ?? '');
  return commandLine(configured ? [...filled, '--config', configOf(config)] : filled);
}

/** The words of each command that does something by itself. */
function wordsOf(commands: readonly Command[], before = ''): readonly string[] {
  return commands.flatMap((command) => {
    const words = `${before}${command.name()}`;
    const inner = wordsOf(command.commands, `${words} `);
    // With options of its own it does something by itself.
    return inner.length === 0 || command.options.length > 0 ? [words, ...inner] : inner;
  });
}

/** The keys of all objects in it. */
function keysOf(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  const inner = Object.values(value).flatMap(keysOf);
  return Array.isArray(value) ? inner : [...Object.keys(value), ...inner];
}

const commands = wordsOf(await allCommands()).filter((words) => !words.startsWith('_'));

test('run ends with 3, too, when its store belongs to a newer version', async () => {
  const { code, stderr } = await run(['run'], 'newer');
  expect([code, stderr]).toEqual([3, expect.stringMatching(/^The store has schema version 9999, /)]);
});

test('run on an address in use creates no store, and says so in one sentence', async () => {
  const { host: listen } = new URL(simulator.url);
  const config = { ...JSON.parse(readFileSync(configOf('alone'), 'utf8')), server: { listen } };
  writeFileSync(configOf('taken'), JSON.stringify({ ...config, store: { url: 'sqlite:./taken.db' } }));
  expect(await run(['run'], 'taken')).toEqual({
    ...{ code: 1, stdout: '' },
    stderr: `warmwarden: ${listen} is in use by another process. Stop that process or set another server.listen\n`,
  });
  expect(readdirSync(folder).filter((name) => name.startsWith('taken'))).toEqual(['taken.yaml']);
});

test('the table has every command, and every command that prints facts has a shape', () => {
  expect([...table.map(({ words }) => words), ...withoutFacts].sort()).toEqual([...commands].sort());
  expect(Object.keys(shapes).sort()).toEqual(table.map(({ words }) => words).sort());
});

describe.each(commands)('warmwarden %s', (words) => {
  test('has --help', async () => {
    const { code, stdout, stderr } = await commandLine([...words.split(' '), '--help']);
    // Commands to copy stay on one line.
    const prose = stdout.split('\n').filter((line) => !/^Usage: |\bwarmwarden /.test(line));
    expect(prose.filter(({ length }) => length > 80)).toEqual([]);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(new RegExp(`^Usage: warmwarden ${words}\\b`));
    expect(stdout).toContain('Examples:\n');
    if (!withoutFacts.includes(words)) expect(stdout).toMatch(/ --json +print JSON, also for errors\n/);
  });

  test('refuses an unknown option', async () => {
    const { code, stdout, stderr } = await commandLine([...words.split(' '), '--unheard']);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^error: /);
  });
});

describe.each(table)('warmwarden $words', ({ words, args = [], wrong, alone, store, changes, elsewhere }) => {
  const argv = [...words.split(' '), ...args];
  const shape = shapes[words as keyof typeof shapes];
  const yes = changes ? ['--yes'] : [];

  test('with wrong arguments ends with 2, and an error in JSON', async () => {
    const mistaken = [...words.split(' '), ...(wrong ?? ['--unheard'])];
    const inWords = await run([...mistaken, ...yes], 'guarded');
    expect([inWords.code, inWords.stdout]).toEqual([2, '']);
    expect(inWords.stderr).not.toMatch(/undefined|\[object|^ {4}at /m);
    const { code, stdout, stderr } = await run([...mistaken, ...yes, '--json'], 'guarded');
    expect([code, stderr]).toEqual([2, '']);
    const { error } = errorShape.parse(JSON.parse(stdout));
    expect(['usage', 'unknown_name']).toContain(error.code);
    expect(error.message).not.toMatch(/^error: /);
  });

  test('with neither daemon nor store', async () => {
    const { code, stdout, stderr } = await run([...argv, ...yes, '--json'], 'alone');
    expect([code, stderr]).toEqual([alone, '']);
    if (alone === 0) shape.parse(JSON.parse(stdout));
    else expect(['no_store', 'no_daemon', 'failed']).toContain(errorShape.parse(JSON.parse(stdout)).error.code);
  });

  test.runIf(store)('with the store of a newer version ends with 3', async () => {
    const { code, stdout, stderr } = await run([...argv, ...yes, '--json'], 'newer');
    expect([code, stderr]).toEqual([3, '']);
    expect(errorShape.parse(JSON.parse(stdout)).error.code).toBe('newer_store');
  });

  test.runIf(changes)('without a terminal needs --yes, unless there is nothing to do', async () => {
    const { stdout } = await run([...argv, '--json'], 'guarded');
    const { error, result = error.code } = JSON.parse(stdout);
    expect(['confirmation_needed', 'no_change']).toContain(result);
  });

  test.runIf(!elsewhere)('beside a daemon, in words', async () => {
    const { code, stdout, stderr } = await run([...argv, ...(changes ? ['--dry-run'] : [])], 'guarded');
    expect([code, words === 'recipes run' ? '' : stderr]).toEqual([0, '']);
    expect(stdout).not.toMatch(/undefined|\[object|NaN/);
    expect(stdout.trim()).not.toBe('');
  });

  test.runIf(!elsewhere)('beside a daemon, in JSON of its shape', async () => {
    const { code, stdout, stderr } = await run([...argv, ...yes, '--json'], 'guarded');
    expect([code, stderr]).toEqual([0, '']);
    const answer = JSON.parse(stdout);
    shape.parse(answer);
    // The parameters of a recipe are a JSON Schema, which has words of its own.
    expect(keysOf(answer).filter((key) => /[A-Z]/.test(key) && key !== 'additionalProperties')).toEqual([]);
  });
});

test('a recipe is a table, JSON or CSV, and what is wrong with its words is said with what was meant', async () => {
  expect((await run('recipes list', 'guarded')).stdout).toMatch(/^pause-domain +Pause a domain +domain +pause$/m);
  const { code, stdout, stderr } = await run('recipes run fleet-overview', 'guarded');
  expect([code, stderr]).toEqual([0, expect.stringMatching(/row/)]);
  expect(stdout).toContain('northbeam.example');
  expect((await run('recipes run fleet-overview --csv', 'guarded')).stdout).toMatch(/^[a-z_]+,.*\r\n/);
  const mistake = async (words: string) => (await run(`recipes run ${words}`, 'guarded')).stderr.trimEnd();
  expect(await mistake('stale-data --param minutes=soon')).toBe('The parameter minutes must be a whole number.');
  expect(await mistake('stale-dta')).toBe('No recipe is called stale-dta (did you mean stale-data?).');
  expect(await mistake('nothing-like-it')).toContain('`recipes list`');
  expect(await mistake('pause-domain')).toContain('--param domain=');
  expect(await mistake('stale-data --param minuts=3')).toContain('(did you mean minutes?)');
});

test('the health check of a container says whether a daemon answers', async () => {
  expect((await run('__alive', 'guarded')).code).toBe(0);
  expect((await run('__alive', 'alone')).code).toBe(1);
});

const unknown: readonly (readonly string[])[] = [
  ['channels', 'test', 'nobody'],
  ['channels', 'resend', 'nobody', '--yes'],
  ['explain', 'nobody@x.example'],
  ['history', '--mailbox', 'nobody@x.example'],
  ['pause', 'nobody@x.example', '--yes'],
  ['limit', 'nobody@x.example', '12', '--yes'],
  ['limit', 'MAILBOX', '99', '--yes'],
  ['set', 'nobody@x.example', 'reply_rate=3', '--yes'],
  ['contest', 'end', 'nobody@x.example', '--yes'],
  ['recipes', 'run', 'nothing'],
  ['writes', 'off', '--account', 'nobody', '--yes', ...reason],
  ['silence', 'add', '--rule', 'nothing', '--for', '1h', '--yes', ...reason],
  ['silence', 'expire', 'nothing', '--yes'],
  ['ack', 'nothing', '--yes'],
];

test.each(unknown)('an unknown name ends with 2: %s %s %s', async (...argv) => {
  const { code, stdout } = await run([...argv, '--json'], 'guarded');
  expect(code).toBe(2);
  expect(['unknown_name', 'invalid']).toContain(errorShape.parse(JSON.parse(stdout)).error.code);
});

const reading = ['status', 'alerts list', 'explain', 'history', 'silence list', 'recipes list', 'recipes run'];

describe.each(table.filter(({ words }) => reading.includes(words)))('$words --url', ({ words, args = [] }) => {
  const argv = [...words.split(' '), ...args];

  test('reads from a daemon elsewhere', async () => {
    vi.stubEnv('WARMWARDEN_API_KEY', recipeKey);
    const { code, stdout, stderr } = await run([...argv, '--url', daemon.url, '--json'], 'alone');
    vi.unstubAllEnvs();
    expect([code, stderr]).toEqual([0, '']);
    shapes[words as keyof typeof shapes].parse(JSON.parse(stdout));
  });

  test('says that none answers', async () => {
    vi.stubEnv('WARMWARDEN_API_KEY', recipeKey);
    const { code, stdout } = await run([...argv, '--url', 'http://127.0.0.1:9', '--json'], 'guarded');
    vi.unstubAllEnvs();
    expect([code, JSON.parse(stdout).error.code]).toEqual([1, 'no_daemon']);
  });
});

test('a change with --url: a daemon without tokens says so, and nothing goes in the clear to another machine', async () => {
  const pause = async (url: string) => {
    const { code, stdout } = await run(['pause', 'MAILBOX', '--yes', '--json', '--url', url], 'guarded');
    return [code, JSON.parse(stdout).error];
  };
  const message = expect.stringContaining('This daemon has no tokens');
  expect(await pause(daemon.url)).toEqual([1, { code: 'unauthorized', message }]);
  for (const url of ['http://mail.example', 'nowhere']) expect(await pause(url)).toMatchObject([2, { code: 'usage' }]);
});
