// Thread that checks every page of the store's file and its WAL, on its own connection.
import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import type { PagesFound } from '../sqlite.ts';

function lookAt(path: string): PagesFound {
  try {
    const database = new DatabaseSync(path, { readOnly: true });
    const said = String(database.prepare('PRAGMA quick_check(1)').get()?.['quick_check']);
    return { said, errcode: null };
  } catch (error) {
    const { message, errcode = null } = error as Error & { errcode?: number };
    return { said: message, errcode };
  }
}

parentPort?.postMessage(lookAt(workerData));
