// A working folder without a configuration: a checkout that is used has one.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Until the test is over, this process works in a folder of its own. */
export function workInEmptyFolder(): void {
  const before = process.cwd();
  const folder = mkdtempSync(join(tmpdir(), 'warmwarden-empty-'));
  process.chdir(folder);
  onTestFinished(() => {
    process.chdir(before);
    rmSync(folder, { recursive: true });
  });
}
