// How many pages the WAL holds, as its index says: sqlite.org/walformat.html, "WAL-Index Header", mxFrame.
import { closeSync, openSync, readSync } from 'node:fs';

const mxFrameAt = 16;

/** Reads the index (`FILE-shm`) of a database that is open. */
export class WalFrames {
  #index: number | null;
  readonly #read = new Uint32Array(1);
  #markedAt = 0;

  constructor(path: string) {
    this.#index = openSync(path, 'r');
  }

  /** Pages that were committed to it since `mark`, or since it began again from its start. Never throws: 0 when that can't be read. */
  sinceMark(): number {
    const count = this.#count();
    if (count < this.#markedAt) this.#markedAt = 0;
    return count - this.#markedAt;
  }

  mark(): void {
    this.#markedAt = this.#count();
  }

  /** Only when the database is closed: with any handle of the process, its locks on the file go. */
  close(): void {
    if (this.#index !== null) closeSync(this.#index);
    this.#index = null;
  }

  #count(): number {
    if (this.#index === null) return 0;
    try {
      readSync(this.#index, this.#read, 0, this.#read.byteLength, mxFrameAt);
      return this.#read[0] ?? 0;
    } catch {
      return 0;
    }
  }
}
