// `npm run bench -- NAME`: which benchmarks it knows.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const script = fileURLToPath(new URL('../../tools/bench/run.ts', import.meta.url));

test('an unknown benchmark is refused with the names of those that are known, and nothing runs', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, 'gaurd'], { encoding: 'utf8' });
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toMatch(/^unknown benchmark gaurd; known here: .*\bguard\b/);
});
