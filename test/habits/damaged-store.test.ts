// Pages of the running store are overwritten or cut off: it is red and told within six minutes, although SQLite goes on with its cache. And a
// store that refuses mailbox lists alone.
import { closeSync, openSync, statSync, truncateSync, writeSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { hourMs, minuteMs, secondMs } from '../../src/core/time.ts';
import { startMovedDaemon } from '../scenario/moved-daemon.ts';
import { OtherApi } from '../support/other-api.ts';
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
  await using api = await OtherApi.start(40);
  await using stage = await startMovedDaemon({
    other: api,
    poll,
    expectErrors: ['store', 'recorded', 'malformed', 'damaged', 'sending to the channel', 'composing messages'],
  });
  await stage.run(2 * hourMs);
  expect(await stage.readyz()).toBe('200 ready');
  damage(stage.storePath);
  await stage.run(5 * minuteMs);
  const red = await until('readiness fails', async () => {
    // The look itself is a thread in real time.
    await stage.run(30 * secondMs);
    const answer = await stage.readyz();
    return answer.startsWith('503') && answer;
  });
  expect(red).toContain('is damaged');
  await stage.run(secondMs);
  expect(stage.notified('store_failing')).toEqual(['firing']);
});

test('a sound store stays green, and ends while it is looked at', async () => {
  await using api = await OtherApi.start(['ann']);
  await using stage = await startMovedDaemon({ other: api, poll });
  await stage.run(31 * secondMs);
  await stage.restart();
  await stage.run(2 * hourMs);
  expect(await stage.readyz()).toBe('200 ready');
});

test('a mailbox list that the store refuses each time, while it takes everything else, makes /readyz red after ten minutes', async () => {
  await using api = await OtherApi.start(['one']);
  const often = { ...poll, mailboxes: '* * * * *' };
  await using stage = await startMovedDaemon({ other: api, poll: often, expectErrors: [''] });
  await stage.run(20 * minuteMs);
  expect(await stage.readyz()).toBe('200 ready');
  stage.sql(`CREATE TRIGGER refuse BEFORE INSERT ON mailboxes WHEN NEW.mailbox_id = 'm2'
    BEGIN SELECT RAISE(ABORT, 'this row is refused'); END`);
  api.add('two@acme.example', { id: 'm2' });
  await stage.run(8 * minuteMs);
  expect(await stage.readyz()).not.toContain('agency');
  await stage.run(10 * minuteMs);
  expect(await stage.readyz()).toMatch(
    /account agency is not guarded: its mailbox list can't be recorded \(.*this row is refused/,
  );
  stage.sql('DROP TRIGGER refuse');
  await stage.run(10 * minuteMs);
  expect([await stage.readyz(), stage.notified('store_failing')[0]]).toEqual(['200 ready', 'firing']);
  expect(stage.mailbox('two@acme.example').id).toBe('m2');
});
