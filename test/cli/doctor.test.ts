// `warmwarden doctor`: what it finds where something is wrong, its exit codes, a full disk, and no secret; every-command.test.ts has it beside a daemon.
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { examineAccounts } from '../../src/cli/doctor/accounts.ts';
import { connectionFailure, examineDaemon, type SeenDaemon } from '../../src/cli/doctor/network.ts';
import { shapes } from '../../src/cli/shapes/shapes.ts';
import { loadConfig } from '../../src/config/load.ts';
import { storeError } from '../../src/store/file/connection.ts';
import { Store } from '../../src/store/store.ts';
import { version } from '../../src/world/program.ts';
import { systemClock } from '../../src/world/world.ts';
import { demoKey } from '../../tools/simulator/keys.ts';
import { type Simulator, startSimulator } from '../../tools/simulator/simulator.ts';
import { commandLine } from '../support/command-line.ts';
import { listen, portOf } from '../support/loopback.ts';
import { newFolder } from '../support/new-folder.ts';
import { hasProc, Workplace } from '../support/process.ts';
import { silentWorld } from '../support/silent-world.ts';

const world = silentWorld();
const secondKey = 'sk_live_of_a_second_account';
const slackPath = '/services/T0P-SECRET';
let simulator: Simulator;

beforeAll(async () => {
  simulator = await startSimulator({
    world,
    scenario: 'calm',
    keys: [demoKey, secondKey].map((key) => ({ key, permissions: ['read'] as const, plan: 'enterprise' as const })),
  });
});
afterAll(() => simulator.close());

/** A configuration of its own in a folder of its own, with what `change` changes. */
function place(change: object = {}, account: object = {}): Workplace {
  const workplace = new Workplace();
  mkdirSync(workplace.path('data'), { mode: 0o700 });
  const file = workplace.configure({
    accounts: [{ name: 'acme', base_url: simulator.url, api_key: demoKey, requests_per_minute: 6_000, ...account }],
    store: { url: 'sqlite:./data/warmwarden.db' },
    ...change,
  });
  chmodSync(file, 0o600);
  return workplace;
}

/** The report of a place by its parts, as `result: message` without what is fine; its exit code. */
async function examined(workplace: Workplace) {
  const { code, stdout, stderr } = await commandLine(['doctor', '--config', workplace.path('config.yaml'), '--json']);
  expect(stderr).toBe('');
  expect(stdout).not.toMatch(new RegExp(`${demoKey}|T0P-SECRET`));
  const report = shapes.doctor.parse(JSON.parse(stdout));
  const of = (part: string) =>
    report.checks.flatMap((check) =>
      check.part === part && check.result !== 'ok' ? [`${check.result}: ${check.message}`] : [],
    );
  return { code, report, of };
}

test('before the first start: no problem, two warnings, and nothing was made', async () => {
  using workplace = place();
  const { code, report, of } = await examined(workplace);
  expect([code, report.problems, report.warnings]).toEqual([0, 0, 2]);
  expect(of('daemon')).toEqual([expect.stringMatching(/^warning: No daemon answers: nothing is guarded\./)]);
  expect(of('configuration')).toEqual([expect.stringContaining('alerts.channels: there is no channel')]);
  expect(report.checks.find(({ part }) => part === 'store')?.message).toContain('the first start creates it');
});

test('a configuration with problems: all of them, and what needs one is skipped', async () => {
  using workplace = place({ gaurd: {}, poll: { stats: 'often' } });
  const { code, of } = await examined(workplace);
  expect([code, of('configuration').length]).toEqual([2, 2]);
  expect([...of('permissions'), ...of('api'), ...of('channels')]).toEqual(
    Array(3).fill('skipped: Not checked, because the configuration has problems.'),
  );
  expect(of('store')).toEqual([]);
});

test('a key that is rejected, and a receiver that cannot be reached', async () => {
  const channels = [{ name: 'ops', type: 'slack', url: `http://127.0.0.1:9${slackPath}` }];
  using workplace = place({ alerts: { channels } }, { api_key: 'sk_live_T0P-SECRET-key' });
  const { code, of } = await examined(workplace);
  expect(code).toBe(1);
  expect(of('api')[0]).toMatch(/^problem: Account acme: FAILED: the key is rejected/);
  expect(of('budget')).toEqual(['skipped: Account acme: no mailbox is known.']);
  expect(of('channels')).toEqual([
    'problem: Channel ops: the receiver cannot be reached (the connection was refused).',
  ]);
});

test('an API that does not answer is said once: its clock is not blamed', async () => {
  using workplace = place({}, { base_url: 'http://127.0.0.1:9' });
  const { code, of } = await examined(workplace);
  expect([code, of('api')[0], of('clock')]).toEqual([
    1,
    'problem: Account acme: FAILED: GET /v1/mailboxes: http://127.0.0.1:9: the connection was refused: check base_url, and whether the API is up.',
    ['skipped: The API of account acme did not answer with the time.'],
  ]);
});

function configOf(workplace: Workplace) {
  const loaded = loadConfig(workplace.path('config.yaml'), {});
  if (!loaded.ok) throw new Error('the configuration has problems');
  return loaded.config;
}

function seenDaemon(fleet: object): SeenDaemon {
  const nothing = { accounts: [], writes_off: [] };
  return { version, clockAheadMs: 0, fleet: { ...nothing, ...fleet } } as unknown as SeenDaemon;
}

const store_failure = { said: 'disk full', remedy: 'Free space.' };
test.each([
  ['whose store is failing', { headline: 'The store is failing.', store_failure }, 'problem', /The store is failing/],
  [
    'in alarm',
    { headline: '1 critical alert.' },
    'warning',
    /^A daemon runs .*: 1 critical alert\. .*`warmwarden status`/,
  ],
])('a daemon %s is told, and leads to status', (_, fleet, result, message) => {
  const [seen] = examineDaemon(seenDaemon({ advice: 'Look.', tone: 'alarm', ...fleet }));
  expect(seen).toMatchObject({ result, message: expect.stringMatching(message) });
});

test('what the daemon knows of the right to write stands beside the API, and nothing says that it is unknown', async () => {
  const account = { base_url: simulator.url, api_key: demoKey, requests_per_minute: 6_000 };
  const accounts = [
    { ...account, name: 'acme' },
    { ...account, name: 'beta', api_key: secondKey },
  ];
  using workplace = place({ accounts });
  const config = configOf(workplace);
  const writing = async (writable: Readonly<Record<string, boolean>>) => {
    const seen = seenDaemon({ accounts: accounts.map(({ name }) => ({ name, writable: writable[name] ?? null })) });
    const checks = await examineAccounts(config, seen);
    expect(examineDaemon(seen).filter(({ result }) => result === 'problem')).toEqual([]);
    return checks.flatMap(({ result, message }) => (/\bwrites?\b/.test(message) ? [`${result}: ${message}`] : []));
  };
  const of = (name: string) => expect.stringMatching(`^problem: Account ${name} refuses writes, so .*: give its key`);
  const unknown = (which: string) => expect.stringContaining(`skipped: Whether ${which} can write is not known yet`);
  const wrote = (name: string) => `ok: Account ${name}: the API let a write of the daemon through.`;
  expect(await writing({})).toEqual([unknown('a key')]);
  expect(await writing({ beta: false })).toEqual([of('beta'), unknown('any other key')]);
  expect(await writing({ acme: true })).toEqual([wrote('acme'), unknown('any other key')]);
  expect(await writing({ acme: true, beta: false })).toEqual([wrote('acme'), of('beta')]);
  // A start forgets it, and the store does not.
  const last_write_at = '2026-03-10T10:12:00.000Z';
  const seen = seenDaemon({ time_zone: 'Europe/Berlin', accounts: [{ name: 'acme', writable: null, last_write_at }] });
  expect((await examineAccounts(config, seen)).map(({ message }) => message)).toContainEqual(
    expect.stringContaining('Account acme: the API let the last write through on 10 March 11:12 Europe/Berlin.'),
  );
});

/** Findings about the accounts of a place, as `result: message`; the daemon on its store is `seen`. */
async function accountsOf(workplace: Workplace, seen: SeenDaemon | null = null): Promise<readonly string[]> {
  return (await examineAccounts(configOf(workplace), seen)).map(({ result, message }) => `${result}: ${message}`);
}

test.each([
  [
    'a cadence that does not fit says what would mend it',
    { requests_per_minute: 600 },
    null,
    /It would take [\d,]+ requests a minute/,
  ],
  ['beside a daemon the headroom counts', { requests_per_minute: 100, headroom: '20%' }, 450, /at 80 requests/],
  ['without headroom nothing is asked beside a daemon', { headroom: '0.01%' }, 450, /headroom leaves no request/],
] as const)('%s', async (_, account, taken, expected) => {
  const every = taken === null ? '* * * * * *' : '*/15 * * * *';
  using workplace = place({ poll: { stats: every, warmup: every } }, account);
  const said = await accountsOf(workplace, taken === null ? null : seenDaemon({}));
  expect(said.join('\n')).toMatch(expected);
});

test('files that every user can read or change', async () => {
  using workplace = place({}, { api_key: undefined, api_key_file: 'key' });
  writeFileSync(workplace.path('key'), demoKey);
  chmodSync(workplace.path('key'), 0o600);
  chmodSync(workplace.path('config.yaml'), 0o644);
  expect((await examined(workplace)).of('permissions')).toEqual([]);
  chmodSync(workplace.path('key'), 0o644);
  expect((await examined(workplace)).of('permissions')).toEqual([
    expect.stringMatching(/^warning: Every user can read the secrets in .*key: run `chmod o-r .*key`\.$/),
  ]);
  using other = place();
  for (const [mode, severity] of [
    [0o604, 'warning: Every user can read the secrets in'],
    [0o602, 'problem: Every user can change'],
  ] as const) {
    chmodSync(other.path('config.yaml'), mode);
    const [said] = (await examined(other)).of('permissions');
    expect(said).toMatch(new RegExp(`^${severity} .*config\\.yaml: run \`chmod o-`));
  }
});

test('the store of an earlier version, of a newer one, and one that is damaged', async () => {
  using workplace = place();
  const path = workplace.path('data/warmwarden.db');
  await (await Store.open(path, world.clock.now())).close();
  const schemaIs = (version: number) => {
    using database = new DatabaseSync(path);
    database.exec(`UPDATE meta SET value = '${version}' WHERE key = 'schema_version'`);
  };
  schemaIs(0);
  const earlier = await examined(workplace);
  expect([earlier.code, earlier.of('store')]).toEqual([
    0,
    [expect.stringContaining('An earlier version of Warmwarden wrote the store')],
  ]);
  schemaIs(9_999);
  const newer = await examined(workplace);
  expect([newer.code, newer.of('store')]).toEqual([3, [expect.stringContaining('schema version 9999')]]);
  writeFileSync(path, 'no database');
  const damaged = await examined(workplace);
  expect([damaged.code, damaged.of('store').length]).toEqual([1, 1]);
});

test('a store that was there and is gone is a problem', async () => {
  using workplace = place();
  const path = workplace.path('data/warmwarden.db');
  await (await Store.open(path, systemClock().now())).close();
  rmSync(path);
  const { code, of } = await examined(workplace);
  expect([code, of('store')]).toEqual([
    1,
    [
      `problem: The store ${path} is gone: it was deleted or moved away. Stop Warmwarden, and move the store back or put a backup there. Otherwise the next start creates a new, empty store, without the earlier actions and silences.`,
    ],
  ]);
});

test('a receiver that speaks no TLS where https is configured', async () => {
  const server = createServer((socket) => socket.on('error', () => {}).end('no\n'));
  await listen(server);
  expect(await connectionFailure(`http://127.0.0.1:${portOf(server)}/x`)).toBeNull();
  expect(await connectionFailure(`https://127.0.0.1:${portOf(server)}/x`)).toMatch(
    /^([A-Z_]+|the connection was reset)$/,
  );
  server.close();
});

/** Root may mount a small disk, to fill it, unless it is root of a container. `umount` needs /proc. */
const canMount = (() => {
  if (!hasProc) return false;
  using place = new Workplace();
  const isMounted = spawnSync('mount', ['-t', 'tmpfs', 'tmpfs', place.folder]).status === 0;
  if (isMounted) spawnSync('umount', ['--lazy', place.folder]);
  return isMounted;
})();

/** What doctor says where the store has a disk with so much free space; `meanwhile`: on that disk, before it is filled. */
async function onSmallDisk(freeBytes: number, meanwhile: (path: string) => Promise<void>) {
  using workplace = place();
  const folder = workplace.path('data');
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m,mode=700', 'tmpfs', folder]);
  try {
    await meanwhile(join(folder, 'warmwarden.db'));
    const { bavail, bsize } = statfsSync(folder);
    writeFileSync(join(folder, 'filler'), Buffer.alloc(bavail * bsize - freeBytes));
    return await examined(workplace);
  } finally {
    spawnSync('umount', ['--lazy', folder]);
  }
}

const orderly = async (path: string) => (await Store.open(path, world.clock.now())).close();
const killed = async (path: string) => {
  const other = join(newFolder(), 'warmwarden.db');
  const store = await Store.open(other, world.clock.now());
  for (const ending of ['', '-wal', '-shm']) cpSync(`${other}${ending}`, `${path}${ending}`);
  await store.close();
};
const ends = [['an orderly end', orderly] as const, ['kill -9', killed] as const];

test.runIf(canMount).each(ends)(
  'after %s, the full disk is the problem, and what to do is to free up space',
  async (_end, leave) => {
    const { code, of } = await onSmallDisk(0, leave);
    expect(code).toBe(1);
    expect(of('store')).toContainEqual(
      'problem: The disk of the store is full (0 B free): Warmwarden cannot record anything, and may not start. Free up space on that disk.',
    );
    expect(of('store').join()).not.toContain('writable folder');
    const roomy = await onSmallDisk(256 * 1024, leave);
    expect(roomy.of('store').filter((one) => one.startsWith('problem'))).toEqual([]);
  },
);

test('an index that has no room on the disk is a full disk, not a folder that can not be written', () => {
  const error = Object.assign(new Error('disk I/O error'), { errcode: 4874 });
  expect(storeError('/data/w.db', error).message).toBe(
    "The store /data/w.db can't be opened: its disk is full. Free up space on that disk.",
  );
});
