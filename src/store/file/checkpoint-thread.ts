// Thread that copies the WAL into the store's file, on its own connection: syncs of either block nothing else.
import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';

const { file, keptBytes } = workerData;
const database = new DatabaseSync(file);
database.exec(`PRAGMA busy_timeout = 0; PRAGMA synchronous = FULL; PRAGMA journal_size_limit = ${keptBytes}`);
database.exec('PRAGMA wal_checkpoint(PASSIVE)');
parentPort?.once('message', () => {
  const isRestarted = database.prepare('PRAGMA wal_checkpoint(RESTART)').get()?.['busy'] === 0;
  // The first transaction of a WAL that starts again syncs its header: one of the main connection would block there.
  if (isRestarted) {
    const version = Number(database.prepare('PRAGMA user_version').get()?.['user_version']);
    database.exec(`PRAGMA user_version = ${(version + 1) % 2 ** 31}`);
  }
  database.close();
});
parentPort?.postMessage('copied');
