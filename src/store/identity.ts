// Which file stands at a path at this moment.
import { statSync } from 'node:fs';

/** Device and inode: the same for as long as it is the same file, through links too. */
export function identityOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false, bigint: true });
  return found ? `${found.dev}:${found.ino}` : 'not there';
}
