// A mark in the head of the store's file, new at each start. SQLite does not notice when another file is copied over the one that it
// has open: its WAL would be laid over what is there now, and damage it.
import { randomInt } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { type Kysely, sql } from 'kysely';
import type { Tables } from '../schema/tables.ts';
import { stampOf } from './identity.ts';
import type { Replaced } from './outage-note.ts';

/**
 * Of SQLite's file format: what every file begins with, the bytes of a page (1: 65,536), how it is written (2: with a WAL; a backup
 * is none), how many pages it has, and a number of the user.
 */
const magic = 'SQLite format 3\0';
const pageBytesAt = 16;
const writtenAt = { from: 18, to: 20 };
const pagesAt = 28;
const userVersionAt = { from: 60, to: 64 };

const largestMark = 2 ** 31 - 1;

export class FileMark {
  /** Open for as long as SQLite has the file open: closing it would take this process's locks on the file away. */
  readonly #fd: number;
  readonly #mark: string;
  /** What the head had before the mark, which may be in the WAL alone while somebody reads. Empty once the head had the mark. */
  #earlier: ReadonlySet<string>;
  /** Of the file, when it was last found sound. */
  #bytes = 0;

  private constructor(fd: number, mark: string, earlier: ReadonlySet<string>) {
    this.#fd = fd;
    this.#mark = mark;
    this.#earlier = earlier;
  }

  /** Marks the file, which is open and may be written. */
  static async put(db: Kysely<Tables>, file: string): Promise<FileMark> {
    const fd = openSync(file, 'r');
    try {
      const before = headOf(fd)?.mark ?? '';
      const mark = randomInt(1, largestMark);
      await sql`PRAGMA user_version = ${sql.lit(mark)}`.execute(db);
      await sql`PRAGMA wal_checkpoint(PASSIVE)`.execute(db);
      return new FileMark(fd, markWith(mark), new Set([before, headOf(fd)?.mark ?? '']));
    } catch (error) {
      closeSync(fd);
      throw error;
    }
  }

  /** What is in the file: `ours`; `cut`: ours, without its end; `other`: another database; `none`: no database. */
  get content(): 'ours' | 'cut' | 'other' | 'none' {
    const head = headOf(this.#fd);
    if (head === null) return 'ours';
    if (head.mark === this.#mark) this.#earlier = new Set();
    else if (!this.#earlier.has(head.mark)) return head.isDatabase ? 'other' : 'none';
    // Either alone is no loss: SQLite shortens a file that gave space back, and says so in its head; and beside somebody who reads,
    // it may copy the head out of the WAL, but not yet the pages that were added.
    if (head.fileBytes < this.#bytes && head.fileBytes < head.countedBytes) return 'cut';
    this.#bytes = head.fileBytes;
    return 'ours';
  }

  /** What the file that the WAL belongs to can be known by, when it is not at its path any more, was cut short or overwritten. */
  get traits(): Replaced['file'] {
    const marks = [this.#mark, ...this.#earlier];
    if (this.content === 'other') return { marks, stamp: null };
    // What is left of it may have lost its mark. SQLite may bring that back out of the WAL.
    return { marks: [...marks, headOf(this.#fd)?.mark ?? ''], stamp: stampOf(this.#fd) };
  }

  /** After SQLite has closed the file. */
  close(): void {
    closeSync(this.#fd);
  }
}

/** Of a file that this process does not have open: empty where it is no database. */
export function markIn(path: string): string {
  const fd = openSync(path, 'r');
  try {
    return headOf(fd)?.mark ?? '';
  } finally {
    closeSync(fd);
  }
}

interface Head {
  readonly isDatabase: boolean;
  /** Empty where the file is too short for one. */
  readonly mark: string;
  /** Of the file, and of the pages that it should have by the newest that was copied into it out of the WAL. */
  readonly fileBytes: number;
  readonly countedBytes: number;
}

function markWith(userVersion: number): string {
  const bytes = Buffer.alloc(userVersionAt.to - userVersionAt.from);
  bytes.writeUInt32BE(userVersion);
  return `0202${bytes.toString('hex')}`;
}

/** null when it can't be read: SQLite says why. */
function headOf(fd: number): Head | null {
  const bytes = Buffer.alloc(userVersionAt.to);
  let fileBytes = 0;
  try {
    fileBytes = fstatSync(fd).size;
    if (readSync(fd, bytes, 0, bytes.length, 0) < bytes.length)
      return { isDatabase: false, mark: '', fileBytes, countedBytes: 0 };
  } catch {
    return null;
  }
  const hex = ({ from, to }: typeof writtenAt) => bytes.toString('hex', from, to);
  const isDatabase = bytes.toString('latin1', 0, magic.length) === magic;
  const pageBytes = bytes.readUInt16BE(pageBytesAt);
  const countedBytes = bytes.readUInt32BE(pagesAt) * (pageBytes === 1 ? 65_536 : pageBytes);
  return { isDatabase, mark: isDatabase ? hex(writtenAt) + hex(userVersionAt) : '', fileBytes, countedBytes };
}
