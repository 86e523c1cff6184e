// `warmwarden connect` against an API of its own that loses answers, refuses, slows down and dies: each mailbox is connected at most
// once, what failed can be tried again, and no password is anywhere but where it was.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, utimesSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { readRows } from '../../src/cli/connect-file.ts';
import { minuteMs } from '../../src/core/time.ts';
import { Store } from '../../src/store/store.ts';
import { oliver, stormOf } from '../account/duty.ts';
import { startMovedDaemon } from '../scenario/moved-daemon.ts';
import { commandLine } from '../support/command-line.ts';
import { startServer } from '../support/loopback.ts';
import { workInEmptyFolder } from '../support/new-folder.ts';
import { Running } from '../support/process.ts';

interface Created {
  readonly email: string;
  readonly smtp_pass: string;
}

/** The API. What it does with a mailbox is the first word of its address. */
async function startApi() {
  const created: Created[] = [];
  const posts: string[] = [];
  const unseen = new Set<string>();
  let lists = 0;
  const server = await startServer(async (request, response) => {
    const say = (status: number, body: object) =>
      response.writeHead(status, { 'content-type': 'application/json', 'retry-after': '0' }).end(JSON.stringify(body));
    if (request.method === 'GET') {
      if (posts.some((email) => email.startsWith('mute'))) return say(500, { error: 'later' });
      lists += 1;
      const shown = created.filter(({ email }) => !unseen.has(email));
      for (const email of unseen) unseen.delete(email);
      return say(200, { mailboxes: shown.map(({ email }) => ({ id: `id-${email}`, email: email.toUpperCase() })) });
    }
    const body = (await json(request)) as Created;
    const [how] = body.email.split(/[.@]/);
    posts.push(body.email);
    const times = posts.filter((email) => email === body.email).length;
    if (how === 'bad') return say(400, { error: `refused: ${JSON.stringify(body)}` });
    if (how === 'key') return say(401, { error: 'who are you' });
    if (how === 'mute' || (how === 'busy' && times === 1)) return say(429, { error: 'slow down' });
    if (how === 'slow') await sleep(1_500);
    if (how === 'void') return void request.socket.destroy();
    created.push(body);
    if (how === 'late') unseen.add(body.email);
    if (how === 'hang') return;
    if (how === 'lost' || how === 'late') return void request.socket.destroy();
    return say(201, { id: `id-${body.email}`, email: body.email, status: 'active', message: JSON.stringify(body) });
  });
  onTestFinished(() => server[Symbol.asyncDispose]());
  return { url: server.url, created, posts, lists: () => lists };
}

const passwords = { SMTP: 'hush-smtp-"quoted', IMAP: 'hush' };
const hosts = 'smtp_host: smtp.example.com, imap_host: imap.example.com';
const references = `smtp_pass: "\${SMTP}", imap_pass_file: imap`;

async function begin() {
  workInEmptyFolder();
  const api = await startApi();
  const account = `{name: acme, base_url: "${api.url}", api_key: sk_live_1234567890, requests_per_minute: 100000}`;
  writeFileSync('config.yaml', `accounts: [${account}]\n`);
  writeFileSync('imap', `${passwords.IMAP}\n`);
  vi.stubEnv('SMTP', passwords.SMTP);
  onTestFinished(() => void vi.unstubAllEnvs());
  const write = (...names: readonly string[]) =>
    writeFileSync('m.yaml', names.map((name) => `- {email: ${name}@x.example, ${hosts}, ${references}}\n`).join(''));
  const connect = (...more: readonly string[]) =>
    commandLine(['connect', 'm.yaml', '--config', 'config.yaml', '--yes', ...more]);
  /** In a process of its own. */
  const connecting = (file: string) =>
    new Running(['connect', resolve(file), '--config', resolve('config.yaml'), '--yes'], passwords);
  return { ...api, write, connect, connecting };
}

const outcomesIn = (stdout: string) =>
  (JSON.parse(stdout).mailboxes as readonly { email: string; outcome: string }[])
    .map(({ email, outcome }) => `${email.split('@')[0]} ${outcome}`)
    .join(', ');
const posted = (posts: readonly string[]) => posts.map((email) => email.split('@')[0]);

test('each mailbox is connected once; what failed is kept with references, and tried again', async () => {
  const { write, connect, posts, created } = await begin();
  write('one', 'lost', 'late', 'busy', 'bad', 'void', 'two');
  const dry = await connect('--dry-run');
  expect([dry.code, dry.stdout, posts]).toEqual([
    0,
    expect.stringContaining('will connect 7 mailboxes to the account acme'),
    [],
  ]);
  const first = await connect('--json');
  expect([first.code, outcomesIn(first.stdout)]).toEqual([
    1,
    'one connected, lost connected, late connected, busy connected, bad failed, void unknown, two connected',
  ]);
  expect(posted(posts)).toEqual(['one', 'lost', 'late', 'busy', 'busy', 'bad', 'void', 'two']);
  expect(created[0]).toEqual({
    ...{ email: 'one@x.example', smtp_host: 'smtp.example.com', smtp_port: 587, smtp_user: 'one@x.example' },
    ...{ imap_host: 'imap.example.com', imap_port: 993, imap_user: 'one@x.example' },
    ...{ smtp_pass: passwords.SMTP, imap_pass: passwords.IMAP },
  });
  const rows = readRows('m.failed.yaml', process.env);
  expect('rows' in rows && rows.rows.map(({ email, account }) => [email, account])).toEqual([
    ['bad@x.example', 'acme'],
    ['void@x.example', 'acme'],
  ]);
  // Without the one whose looks take 17 s.
  write('one', 'lost', 'late', 'busy', 'bad', 'two');
  const again = await connect('--json');
  expect(outcomesIn(again.stdout).replaceAll('connected_before', 'before')).toBe(
    'one before, lost before, late before, busy before, bad failed, two before',
  );
  expect(readdirSync('.').sort()).toEqual(['config.yaml', 'imap', 'm.failed.yaml', 'm.yaml']);
  const files = readdirSync('.')
    .filter((file) => file !== 'imap')
    .map((file) => readFileSync(file, 'utf8'));
  for (const text of [first.stdout, first.stderr, again.stdout, again.stderr, dry.stdout, ...files])
    expect(text.replaceAll('hush.example', '')).not.toMatch(/hush|aHVzaA/);
  expect(first.stdout).toContain('[hidden]');
  expect([(await connect('--dry-run')).code, existsSync('m.failed.yaml')]).toEqual([0, true]);
  writeFileSync('m.failed.yaml', readFileSync('m.failed.yaml', 'utf8').replace('bad@', 'good@'));
  const third = await commandLine(['connect', 'm.failed.yaml', '--config', 'config.yaml', '--yes']);
  expect([third.code, third.stdout]).toEqual([
    0,
    expect.stringMatching(/good@x\.example +acme +connected\n.*1 connected\.\n$/s),
  ]);
}, 120_000);

test('a run that was killed with a request on its way connects nothing twice, and a dry run leaves its lock', async () => {
  const { write, connect, connecting, posts } = await begin();
  write('one', 'hang', 'two');
  const running = connecting('m.yaml');
  while (posts.length < 2) await sleep(50);
  for (const more of [[], ['--dry-run']])
    expect((await connect(...more)).stderr).toMatch(/Process \d+ connects the mailboxes of m\.yaml already/);
  running.child.kill('SIGKILL');
  await running.ended;
  const lock = '.m.yaml.connecting';
  expect([existsSync(lock), existsSync('m.failed.yaml')]).toEqual([true, false]);
  const lockIsOf = (ageMs: number) => utimesSync(lock, new Date(), new Date(Date.now() - ageMs));
  lockIsOf(minuteMs);
  await connect('--dry-run');
  expect(existsSync(lock)).toBe(true);
  const begun = Date.now();
  lockIsOf(58_000);
  const { code, stdout } = await connect('--json');
  expect([code, outcomesIn(stdout)]).toEqual([0, 'one connected_before, hang connected_before, two connected']);
  expect(Date.now() - begun).toBeGreaterThanOrEqual(1_900);
  expect([posted(posts), existsSync(lock)]).toEqual([['one', 'hang', 'two'], false]);
}, 120_000);

test.each([
  ['waits for what the first is connecting, and finds it', ['slow'], /^slow connected_before$/],
  ['takes turns with it, and neither connects what the other has', ['slow', 'two'], /^two connected(_before)?$/],
])('of two files that run at once, the second %s', { timeout: 120_000 }, async (_what, names, outcomes) => {
  const { write, connect, connecting, posts } = await begin();
  write(...names);
  mkdirSync('data');
  renameSync('m.yaml', 'first.yaml');
  const running = connecting('first.yaml');
  while (posts.length < 1) await sleep(20);
  write(...names.slice(-1));
  expect(outcomesIn((await connect('--json')).stdout)).toMatch(outcomes);
  await running.ended;
  expect(posted(posts)).toEqual(names);
});

test('of two runs that wait for the last request of a killed one, one goes on', async () => {
  const { write, connect, connecting, posts } = await begin();
  write('one', 'two');
  writeFileSync('.m.yaml.connecting', '999999999');
  utimesSync('.m.yaml.connecting', new Date(), new Date(Date.now() - 56_000));
  const running = connecting('m.yaml');
  while (readFileSync('.m.yaml.connecting', 'utf8') !== String(running.child.pid)) await sleep(20);
  const { stderr } = await connect();
  expect(stderr).toMatch(/Process \d+ connects the mailboxes of m\.yaml already/);
  await running.ended;
  expect(posted(posts)).toEqual(['one', 'two']);
}, 120_000);

test.each([
  ['a refused key stops the account, and the rest can be tried again', ['key', 'one'], 'key not_tried, one not_tried'],
  ['after a 429 that leaves the list unread, nothing is sent again', ['mute'], 'mute unknown'],
])('%s', async (_what, names, outcomes) => {
  const { write, connect, posts } = await begin();
  write(...names);
  const { code, stdout } = await connect('--json');
  expect([code, outcomesIn(stdout), posts.length]).toEqual([1, outcomes, 1]);
});

test('without a daemon the write stop in the store counts', async () => {
  const { write, connect, posts } = await begin();
  mkdirSync('data');
  await (await Store.open(resolve('data/warmwarden.db'), Date.now())).close();
  write('ann');
  const writes = (...words: readonly string[]) =>
    commandLine(['writes', ...words, '--account', 'acme', '--config', 'config.yaml', '--yes']);
  expect((await writes('off', '--reason', 'wrong list')).code).toBe(0);
  const { code, stderr } = await connect();
  expect([code, stderr, posts]).toEqual([1, expect.stringContaining('wrong list'), []]);
  await writes('on');
  expect([(await connect()).code, posts]).toEqual([0, ['ann@x.example']]);
});

test('a running daemon gives the slots, and refuses them while writes are off', async () => {
  const stage = await startMovedDaemon({ scenario: stormOf(oliver) });
  onTestFinished(() => stage[Symbol.asyncDispose]());
  vi.stubEnv('PASS', 'hush-of-the-env');
  onTestFinished(() => void vi.unstubAllEnvs());
  const file = `${stage.folder}/new.csv`;
  const line = (email: string) => `"${email}",smtp.example.com,\${PASS},imap.example.com,"\${PASS}"\r\n`;
  writeFileSync(
    file,
    `email,smtp_host,smtp_pass,imap_host,imap_pass\r\n${line(oliver.toUpperCase())}${line('new@x.example')}`,
  );
  const connect = () => stage.during(commandLine(['connect', file, '--config', stage.file, '--yes', '--json']));
  await stage.writes(true);
  expect((await connect()).stdout).toContain('Writes are off');
  await stage.writes(false);
  const { stdout } = await connect();
  expect(JSON.parse(stdout).mailboxes).toMatchObject([{ outcome: 'connected_before' }, { outcome: 'connected' }]);
  expect(stage.simulator.fleet.find('new@x.example')).toBeDefined();
  for (const name of readdirSync(stage.folder, { recursive: true, withFileTypes: true }))
    if (name.isFile()) expect(readFileSync(`${name.parentPath}/${name.name}`)).not.toContain('hush-of-the-env');
}, 120_000);

const csv = 'email,smtp_host,smtp_pass,imap_host,imap_pass\n';
test.each<[string, string, readonly string[]]>([
  [
    'a.csv',
    `${csv}a@x.example,h.example,hush,h.example,\${SMTP}\n`,
    [`2 mailboxes[0].smtp_pass: must be an environment variable, as \${NAME}; or write smtp_pass_file`],
  ],
  [
    'a.yaml',
    `- {email: a@x.example, ${hosts}, smtp_pass: "\${NONE}", imap_pass: "\${SMTP:-hush}"}\n`,
    [
      '1 mailboxes[0].smtp_pass: the environment variable NONE is not set',
      `1 mailboxes[0].imap_pass: must be an environment variable, as \${NAME}; or write imap_pass_file`,
    ],
  ],
  [
    'a.csv',
    `${csv}a@x.example,h.example,\${SMTP},h.example,\${SMTP}\n\n"A@x.example",h.example,\${SMTP},h.example,\${SMTP}\n`,
    ['4 mailboxes[1].email: is also in mailboxes[0]'],
  ],
  ['a.csv', `${csv}a"b@x.example,h\n`, ['2 a quotation mark is in the middle of a cell, or is never closed']],
  ['a.csv', `${csv}a,b,c,d,e,f\n`, ['2 the row has more cells than the header']],
  ['a.csv', `emial,${csv}`, ['1 mailboxes: has no row']],
  ['a.yaml', 'mailboxes: []\n', ['1 the file must be a list of mappings, one a mailbox']],
  [
    'a.yaml',
    `- {email: a, smtp_hosts: b, ${hosts}, smtp_port: 0, ${references}}\n`,
    [
      '1 mailboxes[0].email: is not an email address',
      '1 mailboxes[0].smtp_hosts: unknown key (did you mean smtp_host?)',
      '1 mailboxes[0].smtp_port: must be at least 1',
    ],
  ],
])('%s with a mistake is refused before any request: %s', (file, text, problems) => {
  workInEmptyFolder();
  writeFileSync('imap', 'hush');
  writeFileSync(file, text);
  const read = readRows(file, { SMTP: 'hush-smtp' });
  const said = 'problems' in read ? read.problems : [];
  expect(said.map(({ line, path, message }) => [line, path && `${path}:`, message].filter(Boolean).join(' '))).toEqual(
    problems,
  );
});
