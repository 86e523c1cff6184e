// The lock on what a process keeps beside its PostgreSQL store: its socket, and the note of an outage. Free at once after kill -9.

import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { errorText } from '../../core/nearest.ts';
import { StoreError } from '../failure.ts';
import { lockedOrNull } from './lock.ts';
import { create, lockOf } from './place.ts';

/** Creates the folder if need be, and does `work` in it. Throws StoreError, which is never taken for a failure of PostgreSQL. */
export function inFolderOf(path: string, work: () => void = () => {}): void {
  const folder = dirname(path);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    work();
  } catch (error) {
    const why = errorText(error);
    throw new StoreError(
      `The folder ${folder} can't be used: ${why}. Set store.directory to a folder that Warmwarden may write to.`,
    );
  }
}

export class BesideLock {
  readonly #held: DatabaseSync;

  /** `path`: what the names of the files begin with. Throws StoreError when another process of this machine has it. */
  constructor(path: string) {
    const folder = dirname(path);
    inFolderOf(path, () => create(lockOf(path)));
    const held = lockedOrNull(lockOf(path));
    if (!held)
      throw new StoreError(
        `The folder ${folder} is in use by another Warmwarden process: give each process on this machine a store.directory of its own.`,
      );
    this.#held = held;
  }

  close(): void {
    this.#held.close();
  }
}
