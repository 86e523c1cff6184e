// A start whose address is in use leaves nothing behind, and says so in one sentence.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { newFolder } from '../support/new-folder.ts';

const program = new URL('../../src/bin.js', import.meta.url).pathname;

test('a start on an address in use creates no store, and prints one sentence', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  onTestFinished(() => void other.close());
  const folder = newFolder();
  const file = join(folder, 'config.json');
  const listen = `127.0.0.1:${(other.address() as AddressInfo).port}`;
  const accounts = [{ name: 'acme', base_url: 'http://127.0.0.1:9', api_key: 'sk_live_1' }];
  writeFileSync(file, JSON.stringify({ accounts, server: { listen }, store: { url: 'sqlite:./w.db' } }));
  const env = { ...process.env, INVOCATION_ID: 'supervised' };
  const run = promisify(execFile)(process.execPath, [program, 'run', '--config', file], { env });
  const { code, stdout, stderr } = await run.then(
    () => expect.fail(),
    (error: { code: number; stdout: string; stderr: string }) => error,
  );
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toBe(
    `warmwarden: ${listen} is in use by another process. Stop that process or set another server.listen\n`,
  );
  expect(readdirSync(folder)).toEqual(['config.json']);
});
