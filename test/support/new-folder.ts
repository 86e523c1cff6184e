// A folder, or a store in one, that the end of the test removes.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';
import { Store } from '../../src/store/store.ts';

export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'warmwarden-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** Until the test is over, this process works in a folder without a configuration: a checkout that is used has one. */
export function workInEmptyFolder(): void {
  const before = process.cwd();
  process.chdir(newFolder());
  onTestFinished(() => process.chdir(before));
}

/** One for all tests of a file. */
export function folderOfFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'warmwarden-file-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export async function newStore(now: number): Promise<Store> {
  return (await openedStore(now)).store;
}

/** A store with its file, until the test is over. */
export async function openedStore(now: number, options: Parameters<typeof Store.open>[2] = {}) {
  const path = join(newFolder(), 'warmwarden.db');
  const store = await Store.open(path, now, options);
  onTestFinished(() => store.close());
  return { path, store };
}
