// A folder for what several test files of one run use; gone when the run ends.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const variable = 'WARMWARDEN_TEST_SHARED';

/** Whoever runs a server for the tests may enter it. */
export function makeSharedFolder(): void {
  const folder = mkdtempSync(join(tmpdir(), 'warmwarden-shared-'));
  chmodSync(folder, 0o755);
  process.env[variable] = folder;
}

export function sharedFolder(): string {
  const folder = process.env[variable];
  if (folder === undefined) throw new Error('global-setup.ts has not run');
  return folder;
}

export function removeSharedFolder(): void {
  rmSync(sharedFolder(), { recursive: true, force: true });
}
