// Programs that Debian packages: used where they are installed, required in CI.
import { spawnSync } from 'node:child_process';

/** Whether a program is installed. Throws when it is not and CI is set, as .ci/run and .ci/proofs do. */
export function isInstalled(program: string): boolean {
  const found = spawnSync('sh', ['-c', 'command -v "$1"', 'sh', program]).status === 0;
  if (!found && process.env['CI']) throw new Error(`${program} is not installed; .ci/run and .ci/proofs install it`);
  return found;
}
