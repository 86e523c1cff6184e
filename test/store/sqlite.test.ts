// The store on SQLite: the contract, and what only a file can do: be shared, broken, newer, or left behind by a kill -9.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { NewerStoreError, schemaVersion } from '../../src/store/schema/migrations.ts';
import { Store } from '../../src/store/store.ts';
import { newFolder } from '../support/new-folder.ts';
import { hasProc } from '../support/process.ts';
import { describeStore, openerOf } from './contract.ts';
import { now } from './records.ts';
import { describeBreakers, describeSharing } from './shared-contract.ts';

const newFile = () => join(newFolder(), 'warmwarden.db');

const openNew = openerOf(newFile);
describeStore('SQLite', openNew);
describeSharing('SQLite', openNew);
describeBreakers('SQLite', openNew);

/** A process of its own that opens the file, and writes alerts until it is killed; it says what it has committed. */
async function otherProcess(path: string) {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'writer.ts'), path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  // Only then all that it said was read.
  const exited = once(child, 'close');
  const until = async (met: (said: string) => boolean) => {
    while (!met(said)) {
      if (child.exitCode !== null) throw new Error(`the other process ended: ${said}`);
      await Promise.race([once(child.stdout, 'data'), exited]);
    }
  };
  const kill = async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await exited;
    return said.split('\n').filter((line) => line.startsWith('committed')).length;
  };
  const other = { pid: child.pid, until, kill, [Symbol.asyncDispose]: async () => void (await kill()) };
  await until((text) => text.includes('committed'));
  return other;
}

test('a second process is told who holds the file, and a kill -9 sets it free at once with all that was committed', async () => {
  const path = newFile();
  await using other = await otherProcess(path);
  const refused = await Store.open(path, now).catch((error: unknown) => error as Error);
  expect(refused).toMatchObject({ name: 'StoreError' });
  expect(String(refused)).toContain(
    `is in use by process ${other.pid} on ${hostname()}, since 2026-03-10T08:30:00.000Z`,
  );
  await other.until((said) => said.split('\n').length > 20);
  const committed = await other.kill();
  const store = await Store.open(path, now);
  const { alerts } = await store.loadPicture();
  expect(committed).toBeGreaterThan(15);
  // At most one more: it was committed, and the process died before it said so.
  expect([0, 1]).toContain(alerts.length - committed);
  expect(await store.outbox.unnotifiedTransitions(10_000)).toHaveLength(alerts.length);
  await store.close();
});

test('after a kill -9 the WAL of a file that was moved away is not applied to the one that is there', async () => {
  const path = newFile();
  await using other = await otherProcess(path);
  await other.until((said) => said.split('\n').length > 20);
  const committed = await other.kill();
  renameSync(path, `${path}.aside`);
  const store = await Store.open(path, now);
  expect([(await store.loadPicture()).alerts, store.warnings.length]).toEqual([[], 2]);
  await store.close();
  using earlier = new DatabaseSync(`${path}.aside`);
  const alerts = Number(earlier.prepare('SELECT count(*) AS n FROM alerts').get()?.['n']);
  expect([0, 1]).toContain(alerts - committed);
});

test.runIf(hasProc)('a second process is refused although the lock was deleted', async () => {
  const path = newFile();
  await using other = await otherProcess(path);
  // It stands still, so it can't take the lock again.
  process.kill(other.pid ?? 0, 'SIGSTOP');
  rmSync(`${path}.lock`);
  const refused = await Store.open(path, now).catch((error: unknown) => error);
  process.kill(other.pid ?? 0, 'SIGCONT');
  expect(String(refused)).toContain(`is in use by process ${other.pid}`);
  await other.kill();
  await (await Store.open(path, now)).close();
});

test('a newer schema is refused, the file stays as it was, and the lock is free', async () => {
  const path = newFile();
  await (await Store.open(path, now)).close();
  const database = new DatabaseSync(path);
  database.exec("UPDATE meta SET value = '99' WHERE key = 'schema_version'");
  for (let tries = 0; tries < 2; tries += 1) {
    const refused = await Store.open(path, now).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(NewerStoreError);
    expect(String(refused)).toContain(`schema version 99, but this Warmwarden supports only ${schemaVersion}`);
  }
  expect(database.prepare("SELECT value FROM meta WHERE key = 'schema_version'").get()).toEqual({ value: '99' });
  database.close();
});

const inFolder = (name: string, make: (path: string) => void) => (folder: string) => {
  make(join(folder, name));
  return join(folder, name);
};
const hopeless: readonly [string, (folder: string) => string, RegExp][] = [
  ['a folder', inFolder('db', (path) => mkdirSync(path)), /it is a folder/],
  [
    'a file inside a file',
    (folder) => join(inFolder('file', (path) => writeFileSync(path, ''))(folder), 'warmwarden.db'),
    /is a file, not a folder/,
  ],
  [
    'a text file',
    inFolder('notes.txt', (path) => writeFileSync(path, 'These are my notes. '.repeat(100))),
    /not a database/,
  ],
  [
    'the database of something else',
    inFolder('shop.db', (path) => {
      using database = new DatabaseSync(path);
      database.exec('CREATE TABLE orders (id integer)');
    }),
    /a database of another program, with a table orders/,
  ],
];

test.each(hopeless)('%s is no store: one sentence says so, with the path and what to do', async (_name, make, why) => {
  const path = make(newFolder());
  const refused = await Store.open(path, now).catch((error: unknown) => error as Error);
  expect(refused).toMatchObject({ name: 'StoreError' });
  const { message } = refused as Error;
  expect(message).toContain(`The store ${path} can't be`);
  expect(message).toMatch(/set store.url to/i);
  expect(message).toMatch(why);
  expect(message).not.toContain('\n');
});

test('a statement that failed is over once work succeeds, not by a probe; a refused file once a probe succeeds', async () => {
  const path = newFile();
  const store = await Store.open(path, now);
  const beside = new DatabaseSync(path);
  const silence = { match: { rule: ['not_guarded'] }, by: 'me', reason: 'a test', from: now, until: now + 1 };
  const put = (id: string) => store.recordSilence({ id, ...silence });
  beside.exec("CREATE TRIGGER broken BEFORE INSERT ON silences BEGIN SELECT RAISE(ABORT, 'broken'); END");
  await expect(put('one')).rejects.toThrow('broken');
  beside.exec('DROP TRIGGER broken');
  await store.proveWritable(now);
  expect(store.trouble).toMatchObject({ failures: 1, isOver: false });
  await put('one');
  expect(store.trouble).toMatchObject({ failures: 1, isOver: true });
  beside.close();
  renameSync(path, `${path}.away`);
  await expect(store.proveWritable(now)).rejects.toThrow('was deleted or replaced');
  expect(store.trouble.isOver).toBe(false);
  renameSync(`${path}.away`, path);
  await store.proveWritable(now);
  expect(store.trouble.isOver).toBe(true);
  await store.close();
});
