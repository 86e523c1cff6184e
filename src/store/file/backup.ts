// Copies a store while its daemon runs.
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { sql } from 'kysely';
import { isFull, StoreError } from '../failure.ts';
import { refuseNewer, schemaOf } from '../schema/migrations.ts';
import { connectReadOnly, storeError } from './connection.ts';
import { fileMode, sizeOf } from './place.ts';

/** The file appears once it is complete and on the disk. Returns its bytes. Throws StoreError and NewerStoreError. */
export async function backUp(path: string, file: string): Promise<number> {
  refuseExisting(file);
  const part = `${file}.part`;
  let isOurs = false;
  const db = connectReadOnly(path);
  try {
    refuseNewer(await schemaOf(db));
    createPart(part);
    isOurs = true;
    await sql`VACUUM INTO ${part}`.execute(db);
    await refuseDamaged(part);
    syncToDisk(part);
    refuseExisting(file);
    renameSync(part, file);
    syncToDisk(dirname(file));
    return sizeOf(file);
  } catch (error) {
    if (isOurs) rmSync(part, { force: true });
    if (isFull(error))
      throw new StoreError(`The disk of ${file} is full: free space there, or name a file on another disk.`);
    throw storeError(path, error);
  } finally {
    await db.destroy();
  }
}

function refuseExisting(file: string): void {
  if (existsSync(file)) throw new StoreError(`${file} already exists: name another file, or delete it first.`);
}

function createPart(part: string): void {
  try {
    closeSync(openSync(part, 'wx', fileMode));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST')
      throw new StoreError(`${part} already exists: another backup is writing it. If none is, delete it.`);
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
