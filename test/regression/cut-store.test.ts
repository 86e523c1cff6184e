// The file of the store is cut short while the daemon runs: SQLite reads what its caches and the WAL hold, and all stays green
// until something that was cut off is needed.
import { mkdtempSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { request } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { minuteMs } from '../../src/core/time.ts';
import { Store } from '../../src/store/store.ts';
import { oliver, stormOf } from '../account/duty.ts';
import { startMovedDaemon } from '../scenario/moved-daemon.ts';
import { alertOf, noAlerts, now } from '../store/records.ts';

async function opened() {
  const folder = mkdtempSync(join(tmpdir(), 'warmwarden-cut-'));
  const path = join(folder, 'warmwarden.db');
  const store = await Store.open(path, now);
  onTestFinished(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });
  let writes = 0;
  /** Another content each time: SQLite writes no page that stays as it is. */
  const write = (from: number, to = from + 1) => {
    writes += 1;
    const changed = Array.from({ length: to - from }, (_, n) => alertOf(`m${from + n}`, { since: now + writes }));
    return store.recordAlerts({ ...noAlerts, changed });
  };
  const beside = (work: (other: DatabaseSync) => void) => {
    const other = new DatabaseSync(path);
    work(other);
    other.close();
  };
  return { path, store, write, beside };
}

/** Pages that the head of the file counts, and that are in the file. */
function pagesOf(path: string) {
  const bytes = readFileSync(path);
  return { counted: bytes.readUInt32BE(28), there: bytes.length / bytes.readUInt16BE(16) };
}

const emptyTheWal = (other: DatabaseSync) => other.exec('PRAGMA wal_checkpoint(TRUNCATE)');

test.each([[8_192], [1_024]])(
  'a store that is cut to %i bytes takes no write any more, and the test whether it can be written fails',
  async (bytes) => {
    const { path, store, write, beside } = await opened();
    await write(0, 200);
    beside(emptyTheWal);
    await write(200);
    truncateSync(path, bytes);
    const said = `${path} was truncated while Warmwarden was running`;
    await expect(store.proveWritable(now)).rejects.toThrow(said);
    await expect(write(201)).rejects.toThrow(said);
    expect(store.trouble).toMatchObject({ failures: 2, isOver: false });
    expect(store.trouble.newest?.remedy).toMatch(
      /is damaged: stop Warmwarden, move the file away with its -wal and -shm/,
    );
  },
);

test('a store that lost its last page alone is one, too', async () => {
  const { path, write, beside } = await opened();
  await write(0, 200);
  beside(emptyTheWal);
  await write(0);
  const { there } = pagesOf(path);
  truncateSync(path, (there - 1) * 1_024);
  await expect(write(0)).rejects.toThrow('was truncated');
});

test('a file that is shorter than its head says, beside somebody who reads, is none', async () => {
  const { path, store, write, beside } = await opened();
  await write(0);
  beside(emptyTheWal);
  using reader = new DatabaseSync(path, { readOnly: true });
  // What was added last is also what changed last: it stays in the WAL while somebody reads what was before.
  await write(1, 40);
  reader.exec('BEGIN; SELECT count(*) FROM alerts');
  await write(1, 40);
  beside((other) => other.exec('PRAGMA wal_checkpoint(PASSIVE)'));
  const { counted, there } = pagesOf(path);
  expect(counted).toBeGreaterThan(there);
  await write(0);
  reader.exec('COMMIT');
  await write(1);
  expect(store.trouble.failures).toBe(0);
});

test('a file that gave space back to the disk is none', async () => {
  const { path, store, write, beside } = await opened();
  await write(0, 400);
  beside(emptyTheWal);
  await write(0);
  const before = pagesOf(path).there;
  beside((other) => {
    other.exec('DELETE FROM alerts; PRAGMA incremental_vacuum');
    emptyTheWal(other);
  });
  expect(pagesOf(path).there).toBeLessThan(before);
  await write(0);
  await write(0, 400);
  expect(store.trouble.failures).toBe(0);
});

test('the daemon is red within half a minute although it writes nothing else, and people are notified', async () => {
  const expectErrors = ['The store is failing.', 'an answer could not be recorded'];
  const poll = { stats: '*/5 * * * *' };
  await using stage = await startMovedDaemon({ scenario: stormOf(oliver), poll, expectErrors });
  await stage.run(10 * minuteMs);
  const path = join(stage.folder, 'data', 'warmwarden.db');
  const other = new DatabaseSync(path);
  emptyTheWal(other);
  other.close();
  await stage.run(minuteMs);
  truncateSync(path, 8_192);
  await stage.run(minuteMs / 2);
  const { statusCode, body } = await request(`${stage.url()}/readyz`);
  expect([statusCode, await body.text()]).toEqual([503, expect.stringContaining('was truncated while')]);
  expect(stage.notified('store_failing')).toEqual(['firing']);
});
