// A mark in the head of the store's file, new at each start. SQLite does not notice when another file is copied over the one that it
// has open: its WAL would be laid over what is there now, and damage it.
import { randomInt } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';
import { type Kysely, sql } from 'kysely';
import type { Tables } from '../schema/tables.ts';

/** Of SQLite's file format: what every file begins with, how it is written (2: with a WAL; a backup is none), and a number of the user. */
const magic = 'SQLite format 3\0';
const writtenAt = { from: 18, to: 20 };
const userVersionAt = { from: 60, to: 64 };

const largestMark = 2 ** 31 - 1;

export class FileMark {
  /** Open for as long as SQLite has the file open: closing it would take this process's locks on the file away. */
  readonly #fd: number;
  readonly #expected: ReadonlySet<string>;

  private constructor(fd: number, expected: ReadonlySet<string>) {
    this.#fd = fd;
    this.#expected = expected;
  }

  /** Marks the file, which is open and may be written. */
  static async put(db: Kysely<Tables>, file: string): Promise<FileMark> {
    const fd = openSync(file, 'r');
    try {
      const before = headOf(fd);
      const mark = randomInt(1, largestMark);
      await sql`PRAGMA user_version = ${sql.lit(mark)}`.execute(db);
      await sql`PRAGMA wal_checkpoint(PASSIVE)`.execute(db);
      // While somebody reads, the mark may still be in the WAL alone.
      return new FileMark(fd, new Set([before?.mark ?? '', markWith(mark), headOf(fd)?.mark ?? '']));
    } catch (error) {
      closeSync(fd);
      throw error;
    }
  }

  /** What is in the file: `ours`; `other`: another database; `none`: no database. */
  get content(): 'ours' | 'other' | 'none' {
    const head = headOf(this.#fd);
    if (head === null || this.#expected.has(head.mark)) return 'ours';
    return head.isDatabase ? 'other' : 'none';
  }

  /** After SQLite has closed the file. */
  close(): void {
    closeSync(this.#fd);
  }
}

interface Head {
  readonly isDatabase: boolean;
  /** Empty where the file is too short for one. */
  readonly mark: string;
}

function markWith(userVersion: number): string {
  const bytes = Buffer.alloc(userVersionAt.to - userVersionAt.from);
  bytes.writeUInt32BE(userVersion);
  return `0202${bytes.toString('hex')}`;
}

/** null when it can't be read: SQLite says why. */
function headOf(fd: number): Head | null {
  const bytes = Buffer.alloc(userVersionAt.to);
  try {
    if (readSync(fd, bytes, 0, bytes.length, 0) < bytes.length) return { isDatabase: false, mark: '' };
  } catch {
    return null;
  }
  const hex = ({ from, to }: typeof writtenAt) => bytes.toString('hex', from, to);
  const isDatabase = bytes.toString('latin1', 0, magic.length) === magic;
  return { isDatabase, mark: isDatabase ? hex(writtenAt) + hex(userVersionAt) : '' };
}
