// Copies a store while its daemon runs.
import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, openSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sql } from 'kysely';
import { hourMs } from '../../core/time.ts';
import { isFull, StoreError } from '../failure.ts';
import { refuseNewer, schemaOf } from '../schema/migrations.ts';
import { connectReadOnly, storeError } from './connection.ts';
import { create, sizeOf } from './place.ts';

/** Path of an unfinished backup. The name is random because another backup to the same file may be running. */
const partOf = (file: string) => `${file}.${randomUUID().slice(0, 8)}.warmwarden.part`;
const isPart = (name: string) => /\.[0-9a-f]{8}\.warmwarden\.part$/.test(name);
/** A part that did not change for this long belongs to a killed process. */
const deadAfterMs = hourMs;

/**
 * Writes a consistent copy of the store at `path` into a new file that only its owner can open, while a daemon
 * continues. The file appears once it is complete and on the disk. Returns its bytes. Throws StoreError and
 * NewerStoreError.
 */
export async function backUp(path: string, file: string): Promise<number> {
  refuseExisting(file);
  const part = partOf(file);
  const db = connectReadOnly(path);
  try {
    refuseNewer(await schemaOf(db));
    createCopy(part);
    removeDeadParts(part);
    await sql`VACUUM INTO ${part}`.execute(db);
    await refuseDamaged(part);
    syncToDisk(part);
    refuseExisting(file);
    renameSync(part, file);
    syncToDisk(dirname(file));
    return sizeOf(file);
  } catch (error) {
    rmSync(part, { force: true });
    if (isFull(error))
      throw new StoreError(`The disk of ${file} is full: free space there, or name a file on another disk.`);
    throw storeError(path, error);
  } finally {
    await db.destroy();
  }
}

/** Deletes the parts that killed backups left in the folder, for any target file. */
function removeDeadParts(part: string): void {
  const folder = dirname(part);
  const writtenAt = (path: string) => statSync(path).mtimeMs;
  try {
    for (const name of readdirSync(folder).filter(isPart)) {
      const path = join(folder, name);
      if (writtenAt(part) - writtenAt(path) > deadAfterMs) rmSync(path, { force: true });
    }
  } catch {
    // The folder or a part may belong to another user.
  }
}

function refuseExisting(file: string): void {
  if (existsSync(file)) throw new StoreError(`${file} already exists: name another file, or delete it first.`);
}

function createCopy(part: string): void {
  try {
    create(part);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const said = code === 'ENOENT' ? `the folder ${dirname(part)} does not exist` : message;
    throw new StoreError(`The backup can't be written: ${said}. Name a file in a folder that you can write to.`);
  }
}

async function refuseDamaged(part: string): Promise<void> {
  const copy = connectReadOnly(part);
  try {
    const [first] = (await sql<{ quick_check: string }>`PRAGMA quick_check(1)`.execute(copy)).rows;
    if (first?.quick_check !== 'ok')
      throw new StoreError(`The backup is damaged (${first?.quick_check}): it was deleted.`);
  } finally {
    await copy.destroy();
  }
}

function syncToDisk(path: string): void {
  const handle = openSync(path, 'r');
  fsyncSync(handle);
  closeSync(handle);
}
