// Which file stands at a path at this moment, and how large it is.
import { statSync } from 'node:fs';

/** Device and inode: the same for as long as it is the same file, through links too. */
export function identityOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false, bigint: true });
  return found ? `${found.dev}:${found.ino}` : 'not there';
}

/** Bytes; 0 when it is not there. */
export function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
