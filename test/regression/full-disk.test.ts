// A disk that was full: what the store grew to meanwhile must not keep it full.

import { execFileSync, spawnSync } from 'node:child_process';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { OutageNote } from '../../src/store/file/outage-note.ts';
import { Store } from '../../src/store/store.ts';
import { alertOf, noAlerts, now } from '../store/records.ts';
import { newFolder } from '../support/new-folder.ts';
import { canMount } from '../support/tmpfs.ts';

const mib = 1024 * 1024;

async function opened(folder: string) {
  const path = join(folder, 'warmwarden.db');
  const store = await Store.open(path, now);
  onTestFinished(() => store.close());
  const walBytes = () => statSync(`${path}-wal`).size;
  let writes = 0;
  /** Another content each time: SQLite writes no page that stays as it is. */
  const write = () => {
    const sentences = [String(writes++ % 10).repeat(mib / 4)];
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

/** A disk of that size. */
function smallDisk(bytes: number): string {
  const folder = newFolder();
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', folder]);
  onTestFinished(() => void spawnSync('umount', ['--lazy', folder]));
  return folder;
}

describe('a large WAL', () => {
  test('gives its space back once nobody reads it, and is no failure meanwhile', async () => {
    const { path, store, walBytes, write } = await opened(newFolder());
    const other = reader(path);
    for (let count = 0; count < 20; count += 1) await write();
    expect(walBytes()).toBeGreaterThan(4 * mib);
    await store.proveWritable(now);
    expect([walBytes() > 4 * mib, store.trouble.failures]).toEqual([true, 0]);
    other.close();
    await store.proveWritable(now);
    expect(walBytes()).toBeLessThan(mib / 4);
  });
});

test.runIf(canMount)('the note beside the store can change on a disk that is full', () => {
  const folder = smallDisk(mib);
  const file = join(folder, 'warmwarden.db');
  const note = new OutageNote(file);
  note.keep({ stops: [] });
  expect(() => writeFileSync(join(folder, 'filler'), Buffer.alloc(2 * mib))).toThrow('ENOSPC');
  const outage = { alert: { ...alertOf('m1'), firingAt: now }, notified: ['ops'] };
  expect([note.keep({ outage }), new OutageNote(file).outage]).toEqual([true, outage]);
});
