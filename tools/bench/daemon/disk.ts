// How fast the disk of this machine takes what must not be lost: it bounds every store that commits an answer at a time.
import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const pageBytes = 4_096;
const forMs = 500;

/** Pages appended to a file in the folder and synced, one by one, a second. */
export function syncsASecond(folder: string): number {
  const file = openSync(join(folder, 'synced'), 'a');
  const page = Buffer.alloc(pageBytes);
  const began = performance.now();
  let syncs = 0;
  for (; performance.now() - began < forMs; syncs += 1) {
    writeSync(file, page);
    fdatasyncSync(file);
  }
  const seconds = (performance.now() - began) / 1_000;
  closeSync(file);
  return syncs / seconds;
}
