// Whether tests may mount a small disk of their own, to fill it.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Root may, unless it is root of a container. */
export const canMount = (() => {
  const folder = mkdtempSync(join(tmpdir(), 'warmwarden-full-'));
  const mounted = spawnSync('mount', ['-t', 'tmpfs', 'tmpfs', folder]).status === 0;
  if (mounted) spawnSync('umount', ['--lazy', folder]);
  // A mount namespace that was made meanwhile may hold the disk for a moment.
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  return mounted;
})();
