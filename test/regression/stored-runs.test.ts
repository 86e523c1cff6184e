// A viewer's key filled the disk with the rows of its runs: 1.1 GB an hour. docs/faults.md O7.
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Run, RunStatus } from '../../src/core/recipe.ts';
import type { Database } from '../../src/store/database.ts';
import { Gate } from '../../src/store/database.ts';
import { StoredRuns } from '../../src/store/runs.ts';
import { openSqlite } from '../../src/store/sqlite.ts';
import { now } from '../store/records.ts';
import { newFolder } from '../support/new-folder.ts';

const kibibyte = 1024;

let database: Database;
let runs: StoredRuns;
beforeEach(async () => {
  database = await openSqlite(join(newFolder(), 'runs.db'), now);
  runs = new StoredRuns(new Gate(database), { ownerBytes: 400 * kibibyte, bytes: 1_000 * kibibyte });
});
afterEach(() => database.close());

let made = 0;
function run(by: string, status: RunStatus = 'running'): Run {
  made += 1;
  const times = { createdAt: now + made, startedAt: now + made, endedAt: null };
  const asked = { recipe: 'at-risk', parameters: {}, apply: false, by };
  return { id: `r${made}`, status, ...asked, ...times, columns: ['x'], rowCount: 0, truncated: false, error: null };
}

const chunk = (firstRow: number, bytes: number) => ({
  firstRow,
  count: 1,
  rows: JSON.stringify(['x'.repeat(bytes - 4)]),
});

/** A run with 100 KiB of rows. */
async function ran(by: string): Promise<string> {
  const running = run(by);
  await runs.write(running);
  expect(await runs.write(running, [chunk(0, 100 * kibibyte)])).toBe('written');
  await runs.write({ ...running, status: 'succeeded' });
  return running.id;
}

async function kept(ids: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(ids.map(async (id) => ({ id, chunks: await runs.chunks(id, 0, 1) })));
  return found.filter(({ chunks }) => chunks.length > 0).map(({ id }) => id);
}

/** Bytes of rows in the file. */
async function stored(): Promise<number> {
  const rows = await database.db.selectFrom('run_rows').select('rows').execute();
  return rows.reduce((sum, one) => sum + one.rows.length, 0);
}

test('of one key the newest runs are kept that fit, and the others are deleted', async () => {
  const ids: string[] = [];
  for (let count = 0; count < 30; count += 1) ids.push(await ran('bot'));
  expect(await stored()).toBeLessThanOrEqual(400 * kibibyte);
  expect(await kept(ids)).toEqual(ids.slice(-3));
  expect(await runs.read(ids[0] ?? '')).toBe(null);
  expect(await runs.read(ids.at(-1) ?? '')).toMatchObject({ status: 'succeeded' });
});

test('a key does not take the room of another, and all together have a limit', async () => {
  const mine = await ran('ann');
  for (let count = 0; count < 10; count += 1) await ran('bot');
  expect(await kept([mine])).toEqual([mine]);
  for (const key of ['c', 'd', 'e', 'f']) for (let count = 0; count < 3; count += 1) await ran(key);
  expect(await stored()).toBeLessThanOrEqual(1_000 * kibibyte);
  expect(await kept([mine])).toEqual([]);
});
