// Pages of the running store are overwritten or cut off: it is red and told within six minutes, although SQLite goes on with its cache.
import { closeSync, openSync, readFileSync, statSync, truncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { hourMs, minuteMs, secondMs } from '../../src/core/time.ts';
import { startMovedDaemon } from '../scenario/moved-daemon.ts';
import { OtherApi, week } from '../support/other-api.ts';
import { until } from '../support/until.ts';

const poll = { health: '0 * * * *', mailboxes: '*/5 * * * *', stats: '*/15 * * * *', warmup: '*/15 * * * *' };
const pageBytes = 1_024;
/** Of a WAL: its head, and the head of each page in it. */
const wal = { head: 32, frame: 24 };

/** Every other page but the first, which says what the file is. */
function overwrite(path: string): void {
  const file = openSync(path, 'r+');
  const noise = Buffer.alloc(pageBytes, 0xa5);
  for (let at = pageBytes; at < statSync(path).size; at += 2 * pageBytes) writeSync(file, noise, 0, pageBytes, at);
  closeSync(file);
  const log = openSync(`${path}-wal`, 'r+');
  const { size } = statSync(`${path}-wal`);
  for (let at = wal.head + wal.frame; at < size; at += 2 * (wal.frame + pageBytes))
    writeSync(log, noise, 0, pageBytes, at);
  closeSync(log);
}

/** Cuts the end off, where a tool emptied the WAL before. */
function cut(path: string): void {
  const tool = new DatabaseSync(path);
  tool.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  tool.close();
  truncateSync(path, 8 * pageBytes);
}

test.each([
  ['pages are overwritten', overwrite],
  ['file is cut short', cut],
])('a store whose %s fails readiness and is told within six minutes', async (_what, damage) => {
  await using api = await OtherApi.start();
  for (let n = 0; n < 40; n += 1) api.add(`m${n}@d${n % 5}.example`, { days: week(40, 0) });
  await using stage = await startMovedDaemon({
    other: api,
    poll,
    expectErrors: ['store', 'recorded', 'malformed', 'damaged', 'sending to the channel', 'composing messages'],
  });
  await stage.run(2 * hourMs);
  const path = join(stage.folder, 'data', 'warmwarden.db');
  expect(readFileSync(path).subarray(0, 6).toString()).toBe('SQLite');
  const readiness = async () => {
    const answer = await fetch(`${stage.url()}/readyz`);
    return { status: answer.status, text: await answer.text() };
  };
  expect((await readiness()).status).toBe(200);
  damage(path);
  await stage.run(5 * minuteMs);
  const red = await until('readiness fails', async () => {
    // The look itself is a thread in real time.
    await stage.run(30 * secondMs);
    const answer = await readiness();
    return answer.status === 503 && answer;
  });
  expect(red.text).toContain('is damaged');
  await stage.run(secondMs);
  expect(stage.notified('store_failing')).toEqual(['firing']);
});

test('a sound store stays green, and ends while it is looked at', async () => {
  await using api = await OtherApi.start();
  api.add('ann@d1.example', { days: week(40, 0) });
  await using stage = await startMovedDaemon({ other: api, poll });
  await stage.run(31 * secondMs);
  await stage.restart();
  await stage.run(2 * hourMs);
  expect((await fetch(`${stage.url()}/readyz`)).status).toBe(200);
});
