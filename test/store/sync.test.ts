// A power cut takes nothing back that left the store: a write resolves after the sync that covers it, and a failed sync is no
// success of the next one.
import { copyFileSync, fdatasync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { FileOptions } from '../../src/store/sqlite.ts';
import { Store } from '../../src/store/store.ts';
import { newFolder, openedStore } from '../support/new-folder.ts';
import { alertOf, noAlerts, now } from './records.ts';

const mebibyte = 1_024 * 1_024;

async function opened(options: FileOptions) {
  const { path, store } = await openedStore(now, options);
  const write = (id: string) => store.recordAlerts({ ...noAlerts, changed: [alertOf(id)] });
  return { path, store, write };
}

/** A disk whose syncs end when the test says so. */
function slowDisk() {
  const begun: (() => void)[] = [];
  let isOver = false;
  const sync = () => new Promise<void>((resolve) => (isOver ? resolve() : begun.push(resolve)));
  const free = () => {
    isOver = true;
    for (const end of begun) end();
  };
  return { sync, begun, free, end: () => begun.shift()?.() };
}

async function openedSlow() {
  const disk = slowDisk();
  const store = await opened({ sync: disk.sync });
  // Before the store closes, which waits for its syncs.
  onTestFinished(disk.free);
  return { ...store, disk };
}

const rest = () => new Promise((resolve) => setTimeout(resolve, 30));

const isOver = async (work: Promise<unknown>) => {
  const other = Symbol();
  return (await Promise.race([work, rest().then(() => other)])) !== other;
};

test('a write resolves after its sync, and so does a read that may have seen it', async () => {
  const { path, store, write, disk } = await openedSlow();
  const writing = write('m1');
  await expect.poll(() => disk.begun.length).toBe(1);
  const reading = store.loadPicture();
  using beside = new DatabaseSync(path);
  expect(beside.prepare('SELECT count(*) AS n FROM alerts').get()).toEqual({ n: 1 });
  expect([await isOver(writing), await isOver(reading)]).toEqual([false, false]);
  disk.end();
  await writing;
  expect((await reading).alerts).toHaveLength(1);
});

test('a sync covers what ended before it began, and nothing later', async () => {
  const { write, disk } = await openedSlow();
  const first = write('m1');
  await expect.poll(() => disk.begun.length).toBe(1);
  const later = [write('m2'), write('m3'), write('m4')];
  await rest();
  disk.end();
  await first;
  await expect.poll(() => disk.begun.length).toBe(1);
  expect(await Promise.all(later.map(isOver))).toEqual([false, false, false]);
  disk.end();
  await Promise.all(later);
  expect(disk.begun).toHaveLength(0);
});

test('a failed sync fails the write and all after it, without another sync; what the next process finds is on its disk', async () => {
  // The kernel's own error: it syncs no device.
  const device = openSync('/dev/null', 'r');
  let syncs = 0;
  const sync = (fd: number) => promisify(fdatasync)(++syncs === 2 ? device : fd);
  const { path, store, write } = await opened({ sync });
  await write('m1');
  await expect(write('m2')).rejects.toThrow(/^the disk did not store the newest changes: EINVAL/);
  await expect(write('m3')).rejects.toThrow('did not store');
  await expect(store.proveWritable(now)).rejects.toThrow('did not store');
  await expect(store.loadPicture()).rejects.toThrow('did not store');
  expect(syncs).toBe(2);
  expect(store.trouble).toMatchObject({ isOver: false, newest: { lasting: true, endsProcess: true } });
  expect(store.trouble.newest?.remedy).toContain(`Check the disk of ${path}`);
  // As after a kill -9.
  const copy = join(newFolder(), 'warmwarden.db');
  for (const ending of ['', '-wal']) copyFileSync(`${path}${ending}`, `${copy}${ending}`);
  const next = await Store.open(copy, now);
  onTestFinished(() => next.close());
  const alone = `${copy}.alone`;
  copyFileSync(copy, alone);
  using file = new DatabaseSync(alone);
  expect(file.prepare('SELECT count(*) AS n FROM alerts').get()).toEqual({ n: 2 });
});

describe('a large WAL', () => {
  /** Another content each time: SQLite writes no page that stays as it is. */
  const large = (index: number, length: number) => {
    const alert = alertOf(`m${index}`);
    const sentences = [String(index % 10).repeat(length)];
    return { ...noAlerts, changed: [{ ...alert, facts: { ...alert.facts, sentences } }] };
  };

  test('is copied into the file in a thread, and starts again with what is written meanwhile', async () => {
    const { path, store } = await opened({});
    const frames = () => {
      using beside = new DatabaseSync(path, { readOnly: true });
      return Number(beside.prepare('PRAGMA wal_checkpoint(NOOP)').get()?.['log']);
    };
    let written = 0;
    const write = () => store.recordAlerts(large(written++, 400_000));
    // A page has 1,024 bytes.
    const many = 16 * 1_024;
    while (frames() < many) await write();
    const framesLater = async () => {
      await write();
      return frames();
    };
    await expect.poll(framesLater, { timeout: 20_000, interval: 10 }).toBeLessThan(many);
    expect((await store.loadPicture()).alerts).toHaveLength(written);
    const alone = `${path}.alone`;
    copyFileSync(path, alone);
    using file = new DatabaseSync(alone);
    expect(Number(file.prepare('SELECT count(*) AS n FROM alerts').get()?.['n'])).toBeGreaterThan(35);
  });

  test('gives its space back once nobody reads it, and is no failure meanwhile', async () => {
    const { path, store } = await opened({});
    const walBytes = () => statSync(`${path}-wal`).size;
    // As a long query of a recipe does.
    const reader = new DatabaseSync(path);
    reader.exec('BEGIN; SELECT count(*) FROM meta');
    for (let count = 0; count < 40; count += 1) await store.recordAlerts(large(count, mebibyte));
    expect(walBytes()).toBeGreaterThan(20 * mebibyte);
    await store.proveWritable(now);
    expect([walBytes() > 20 * mebibyte, store.trouble.failures]).toEqual([true, 0]);
    reader.close();
    await store.proveWritable(now);
    expect(walBytes()).toBeLessThanOrEqual(16 * mebibyte);
  });
});
