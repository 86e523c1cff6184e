// Thread that checks every page of the store's file and its WAL, on its own connection.
import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { errorText } from '../../core/nearest.ts';
import { isDamage } from '../failure.ts';

/** Returns the damage in SQLite's words, or null if there is none or the file can't be read. */
function damageIn(path: string): string | null {
  try {
    const database = new DatabaseSync(path, { readOnly: true });
    const said = String(database.prepare('PRAGMA quick_check(1)').get()?.['quick_check']);
    return said === 'ok' ? null : said;
  } catch (error) {
    return isDamage(error) ? errorText(error) : null;
  }
}

parentPort?.postMessage(damageIn(workerData));
