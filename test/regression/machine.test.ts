// A machine that lacks something: a name for the user, files that may be opened, the current folder.
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { sourceFiles } from '../layers.ts';
import { startServer } from '../support/loopback.ts';
import { bin, inherited, node, root } from '../support/process.ts';

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
