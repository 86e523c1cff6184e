// A uid without a name (`docker run --user 4711`): os.userInfo() throws there, and took the daemon down at its start.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sourceFiles } from '../layers.ts';

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
