// A machine that lacks something: a name for the user, files that may be opened, the current folder. Files that are none: a FIFO blocked the
// daemon for ever, a device filled the memory, 20 MB were parsed. docs/faults.md O5.
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { readFiles } from '../../src/daemon/reload/reloader.ts';
import { readCatalogue } from '../../src/recipes/catalogue.ts';
import { sourceFiles } from '../layers.ts';
import { startServer } from '../support/loopback.ts';
import { bin, inherited, node, Running, root, Workplace } from '../support/process.ts';

const source = join(import.meta.dirname, '../../src');
const isRoot = process.getuid?.() === 0;

test.runIf(isRoot)('a user without a name goes by the uid', () => {
  // The module is read before the process gives up the right to read it.
  const script = `const { userName } = await import('${join(source, 'operations/socket.ts')}');
    process.setgid(54321); process.setuid(54321); process.stdout.write(userName())`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  expect([stdout, stderr]).toEqual(['uid 54321', '']);
});

test('no other file asks the machine for the user, which may throw', () => {
  const asking = sourceFiles(source).filter((file) => readFileSync(join(source, file), 'utf8').includes('userInfo('));
  expect(asking).toEqual(['operations/socket.ts']);
});

/** Uses up the files that it may open, and sends a request. */
const crowded = `
import { openSync } from 'node:fs';
import { HttpAgent, exchange } from '${root}src/api/http/exchange.ts';
import { Redactor } from '${root}src/api/http/redactor.ts';
try { for (;;) openSync('/dev/null'); } catch {}
const ask = { method: 'POST', baseUrl: process.argv[1], path: '/', headers: {}, body: '{}', signal: null, redactor: new Redactor('', []) };
const { result, reached } = await exchange(new HttpAgent(), ask, Date.now, () => ({ ok: true, value: null }));
process.stdout.write(JSON.stringify({ ...result.failure, reached }));
process.exit(0);
`;

test('a connection for which no file is left names the limit and what raises it, and was surely not sent', async () => {
  await using server = await startServer((_, response) => response.end('{}'));
  const { url } = server;
  const limited = 'ulimit -n 60 && exec "$0" --input-type=module -e "$1" -- "$2"';
  const { stdout } = await promisify(execFile)('bash', ['-c', limited, node, crowded, url]);
  const detail = `${url}: Warmwarden has as many open files as its limit allows; raise it (LimitNOFILE= in systemd, or ulimit -n)`;
  expect(JSON.parse(stdout)).toEqual({ kind: 'unavailable', status: null, detail, retryAfterMs: null, reached: false });
});

test('a command in a folder that was removed says so in a sentence', () => {
  const folder = mkdtempSync(join(tmpdir(), 'warmwarden-removed-'));
  const inside = ['-c', 'cd "$0" && rmdir "$0" && exec "$@"', folder, node, bin, '--version'];
  const { status, stdout, stderr } = spawnSync('sh', inside, { encoding: 'utf8', env: inherited() });
  expect([status, stdout, stderr.trimEnd()]).toEqual([
    2,
    '',
    'warmwarden: the current folder was removed. Change to another folder, and run the command again.',
  ]);
});

const key = 'sk_live_regular_file';

/** A folder with one of each kind; `fifo` has no writer. */
function workplace(): Workplace {
  const place = new Workplace();
  execFileSync('/bin/sh', ['-c', 'mkfifo "$0"', place.path('fifo')]);
  symlinkSync('fifo', place.path('link-to-fifo'));
  symlinkSync('/dev/zero', place.path('link-to-device'));
  writeFileSync(place.path('key'), `${key}\n`);
  symlinkSync('key', place.path('link-to-key'));
  writeFileSync(place.path('large'), key);
  truncateSync(place.path('large'), 20 * 1024 * 1024);
  mkdirSync(place.path('folder'));
  return place;
}

async function check(place: Workplace, config: string) {
  await using running = new Running(['check', '--config', config]);
  const { code } = await running.ended;
  return { code, output: running.output.replaceAll(`${place.folder}/`, '') };
}

test('a secret is read from a regular file of bounded size only, at once', async () => {
  using place = workplace();
  const names = ['fifo', 'link-to-fifo', '/dev/zero', 'large', 'folder', 'key'];
  const accounts = names.map((file, index) => {
    return { name: `a${index}`, base_url: `https://${index}.example`, api_key_file: file };
  });
  const { code, output } = await check(place, place.configure({ accounts }));
  expect(code).toBe(2);
  const said = output.split('\n').flatMap((line) => /api_key_file: (.*)$/.exec(line)?.[1] ?? []);
  expect(said).toEqual([
    "the file can't be read: it is a FIFO, not a regular file",
    "the file can't be read: it is a FIFO, not a regular file",
    "the file can't be read: it is a device, not a regular file",
    "the file can't be read: it is larger than 64 KiB",
    "the file can't be read: it is a folder",
  ]);
});

const notUtf8 = 'it is not UTF-8 text; save it as UTF-8';
test.each([
  ['fifo', 'it is a FIFO, not a regular file'],
  ['link-to-device', 'it is a device, not a regular file'],
  ['large', 'it is larger than 1 MiB'],
  ['folder', 'it is a folder'],
  ['utf-16', notUtf8],
  ['latin-1', notUtf8],
])('a configuration that is %s is refused in one sentence', async (name, why) => {
  using place = workplace();
  writeFileSync(place.path('utf-16'), Buffer.from('\ufeffaccounts: []\n', 'utf16le'), { mode: 0o600 });
  writeFileSync(place.path('latin-1'), Buffer.from('# M\u00fcnchen\n', 'latin1'), { mode: 0o600 });
  const { code, output } = await check(place, place.path(name));
  expect([code, output.trim()]).toEqual([2, `${name}:1:1 the file can't be read: ${why}`]);
});

test('a configuration behind a symlink is read, as Kubernetes mounts it', async () => {
  using place = workplace();
  const accounts = [{ name: 'acme', base_url: 'https://mailboxes.example', api_key_file: 'link-to-key' }];
  symlinkSync(place.configure({ accounts }, 'real.yaml'), place.path('link.yaml'));
  expect((await check(place, place.path('link.yaml'))).code).toBe(0);
});

test('a recipe that is a FIFO, a device or too large hides no other', async () => {
  using place = workplace();
  mkdirSync(place.path('recipes'));
  for (const name of ['fifo', 'link-to-device', 'large', 'folder']) {
    symlinkSync(`../${name}`, place.path(`recipes/${name}.yaml`));
  }
  writeFileSync(place.path('recipes/own.yaml'), 'id: own\ntitle: t\ndescription: d\nselect: SELECT 1 AS one\n');
  const { definitions, broken } = await readCatalogue(place.path('recipes'));
  expect(definitions.has('own')).toBe(true);
  expect(broken.map(({ problems }) => problems[0]?.replace(/^.*\/recipes\//, ''))).toEqual([
    "fifo.yaml: can't be read: it is a FIFO, not a regular file",
    "folder.yaml: can't be read: it is a folder",
    "large.yaml: can't be read: it is larger than 64 KiB",
    "link-to-device.yaml: can't be read: it is a device, not a regular file",
  ]);
});

test('a secret file that becomes a FIFO while it runs is left out', () => {
  using place = workplace();
  expect([...readFiles([place.path('fifo'), place.path('key')])]).toEqual([[place.path('key'), `${key}\n`]]);
});
