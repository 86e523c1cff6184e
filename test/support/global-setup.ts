// Before all tests: one start of the command fills a cache of compiled sources, from which every later one takes them. And
// what tests write lies in memory where there is room: durability has tests of its own, and the many commits cost no fsync.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeSharedFolder, removeSharedFolder } from './shared-folder.ts';

const bin = join(import.meta.dirname, '../../src/bin.js');
const folder = mkdtempSync(join(tmpdir(), 'warmwarden-compiled-'));
const inMemory = '/dev/shm';
/** A container's is 64 MiB. */
const roomBytes = 2 ** 30;

/** Node reads the variable in every process that the tests start: half of a start's work is stripping types. */
export function setup(): void {
  process.env['NODE_COMPILE_CACHE'] = folder;
  if (hasRoom()) process.env['TMPDIR'] = inMemory;
  // The servers of tests are on this machine, whatever proxy it has.
  const { NO_PROXY = '', no_proxy = NO_PROXY } = process.env;
  process.env['no_proxy'] = `${no_proxy},127.0.0.1,localhost,::1`;
  makeSharedFolder();
  execFileSync(process.execPath, [bin, '--help']);
}

function hasRoom(): boolean {
  if (!existsSync(inMemory)) return false;
  const { bavail, bsize } = statfsSync(inMemory);
  return bavail * bsize >= roomBytes;
}

export function teardown(): void {
  removeSharedFolder();
  rmSync(folder, { recursive: true, force: true });
}
