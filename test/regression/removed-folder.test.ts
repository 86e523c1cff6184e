// A command that was run in a folder that somebody had removed printed a stack trace.
import { spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bin, inherited, node } from '../support/process.ts';

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
