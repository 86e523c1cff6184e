// A folder that the end of the test removes.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'warmwarden-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}
