// The lock on what a replica keeps beside its PostgreSQL store: its socket, and the note of an outage. Free at once after kill -9.
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { StoreError } from '../failure.ts';
import { lockedOrNull } from './lock.ts';
import { create, lockOf } from './place.ts';

export class BesideLock {
  readonly #held: DatabaseSync;

  /** `path`: what the names of the files begin with. Throws StoreError when another process of this machine has it. */
  constructor(path: string) {
    const folder = dirname(path);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    create(lockOf(path));
    const held = lockedOrNull(lockOf(path));
    if (!held)
      throw new StoreError(
        `The folder ${folder} is in use by another Warmwarden process: give each replica on this machine a store.directory of its own.`,
      );
    this.#held = held;
  }

  close(): void {
    this.#held.close();
  }
}
