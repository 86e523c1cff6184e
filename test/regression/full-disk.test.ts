// A disk that was full: what the store grew to meanwhile must not keep it full.

import { statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { Store } from '../../src/store/store.ts';
import { alertOf, noAlerts, now } from '../store/records.ts';
import { newFolder } from '../support/new-folder.ts';

const mib = 1024 * 1024;

async function opened(folder: string) {
  const path = join(folder, 'warmwarden.db');
  const store = await Store.open(path, now);
  onTestFinished(() => store.close());
  const walBytes = () => statSync(`${path}-wal`).size;
  let writes = 0;
  /** Another content each time: SQLite writes no page that stays as it is. */
  const write = () => {
    const sentences = [String(writes++ % 10).repeat(mib)];
    const alert = alertOf('m1');
    return store.recordAlerts({ ...noAlerts, changed: [{ ...alert, facts: { ...alert.facts, sentences } }] });
  };
  return { path, store, walBytes, write };
}

/** Holds the WAL where it is, as a long query of a recipe does. */
function reader(path: string) {
  const other = new DatabaseSync(path);
  other.exec('BEGIN; SELECT count(*) FROM meta');
  return other;
}

test('a large WAL gives its space back once nobody reads it, and is no failure meanwhile', async () => {
  const { path, store, walBytes, write } = await opened(newFolder());
  const other = reader(path);
  for (let count = 0; count < 40; count += 1) await write();
  expect(walBytes()).toBeGreaterThan(20 * mib);
  await store.proveWritable(now);
  expect([walBytes() > 20 * mib, store.trouble.failures]).toEqual([true, 0]);
  other.close();
  await store.proveWritable(now);
  expect(walBytes()).toBeLessThanOrEqual(16 * mib);
});
