// Before all tests: one start of the command fills a cache of compiled sources, from which every later one takes them.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const bin = join(import.meta.dirname, '../../src/bin.js');
const folder = mkdtempSync(join(tmpdir(), 'warmwarden-compiled-'));

/** Node reads the variable in every process that the tests start: half of a start's work is stripping types. */
export function setup(): void {
  process.env['NODE_COMPILE_CACHE'] = folder;
  execFileSync(process.execPath, [bin, '--help']);
}

export function teardown(): void {
  rmSync(folder, { recursive: true, force: true });
}
