// The command starts on the Node that runs the tests: .ci/run calls this on the oldest one we promise, too.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');

function warmwarden(...args: string[]) {
  return spawnSync(process.execPath, ['src/bin.js', ...args], { cwd: root, encoding: 'utf8' });
}

it('says its version without a word on stderr', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const { stdout, stderr, status } = warmwarden('--version');
  expect({ stdout, stderr, status }).toEqual({ stdout: `${version}\n`, stderr: '', status: 0 });
});

it('answers a wrong word with a hint and exit code 2', () => {
  const { stderr, status } = warmwarden('ran');
  expect(stderr).toContain("unknown command 'ran'");
  expect(status).toBe(2);
});
