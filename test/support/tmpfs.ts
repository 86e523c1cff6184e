// Whether tests may mount a small disk of their own, to fill it.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasProc } from './process.ts';

/** Root may, unless it is root of a container. `umount` needs /proc. */
export const canMount = (() => {
  if (!hasProc) return false;
  const folder = mkdtempSync(join(tmpdir(), 'warmwarden-full-'));
  const mounted = spawnSync('mount', ['-t', 'tmpfs', 'tmpfs', folder]).status === 0;
  if (mounted) spawnSync('umount', ['--lazy', folder]);
  rmSync(folder, { recursive: true, force: true });
  return mounted;
})();
