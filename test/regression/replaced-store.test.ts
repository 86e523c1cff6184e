// The file of the store is deleted or replaced while Warmwarden runs, which is killed then: the next start must not lay the WAL of
// the lost file over the one that is there, nor lose a WAL that belongs to it.
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { backUp } from '../../src/store/file/copies.ts';
import { putOrphanedWalAside } from '../../src/store/file/orphaned-wal.ts';
import { Ledger } from '../../src/store/ledger.ts';
import { Store } from '../../src/store/store.ts';
import { alertOf, noAlerts, now } from '../store/records.ts';
import { failWrites } from '../support/failing-writes.ts';

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'warmwarden-replaced-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A store with alerts of which the newest are in its WAL alone; `before`: a backup and a plain copy of what it was earlier. */
async function opened(path = join(newFolder(), 'warmwarden.db')) {
  const store = await Store.open(path, now);
  onTestFinished(() => store.close());
  let writes = 0;
  const write = (count: number) => {
    writes += 1;
    const changed = Array.from({ length: count }, (_, n) => alertOf(`m${n}`, { since: now + writes }));
    return store.recordAlerts({ ...noAlerts, changed });
  };
  const notice = () => expect(store.proveWritable(now)).rejects.toThrow(/deleted or replaced|overwritten|truncated/);
  const before = newFolder();
  const backup = join(before, 'backup.db');
  const copy = join(before, 'copy.db');
  await write(100);
  await backUp(path, backup);
  using tool = new DatabaseSync(path);
  tool.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  copyFileSync(path, copy);
  await write(150);
  tool.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  await write(200);
  return { path, store, write, notice, backup, copy };
}

/** What kill -9 leaves at the moment, before the next process opens it. */
function killed(path: string) {
  const folder = join(newFolder(), 'data');
  execFileSync('cp', ['-a', join(path, '..'), folder]);
  return { folder, file: join(folder, 'warmwarden.db') };
}

/** What the next process puts aside of that. */
function left(path: string) {
  const { folder, file } = killed(path);
  putOrphanedWalAside(file);
  return { aside: readdirSync(folder).filter((name) => name.includes('aside')) };
}

/** It, opened by the next process. */
async function afterKill(path: string) {
  const { folder, file } = killed(path);
  const store = await Store.open(file, now);
  onTestFinished(() => store.close());
  const { alerts } = await store.loadPicture();
  using reader = new DatabaseSync(file, { readOnly: true });
  const [check] = reader.prepare('PRAGMA integrity_check').all();
  const aside = readdirSync(folder).filter((name) => name.includes('aside'));
  return { file, folder, store, alerts: alerts.length, check: Object.values(check ?? {})[0], aside };
}

const putThere: readonly (readonly [
  what: string,
  put: (path: string, of: Record<'backup' | 'copy', string>) => void,
])[] = [
  ['a backup that is renamed over it', (path, { backup }) => renameSync(backup, path)],
  ['an earlier copy that is renamed over it', (path, { copy }) => renameSync(copy, path)],
  ['a backup that is copied over it', (path, { backup }) => copyFileSync(backup, path)],
];

test('a plain copy from before the last start, copied over the store, is noticed before anything is written', async () => {
  const { path, store } = await opened();
  await store.close();
  const copy = join(newFolder(), 'copy.db');
  copyFileSync(path, copy);
  const next = await Store.open(path, now);
  onTestFinished(() => next.close());
  const alerts = (count: number) => Array.from({ length: count }, (_, n) => alertOf(`n${n}`, { since: now + count }));
  await next.recordAlerts({ ...noAlerts, changed: alerts(300) });
  copyFileSync(copy, path);
  await expect(next.proveWritable(now)).rejects.toThrow(/overwritten|truncated/);
  await expect(next.recordAlerts({ ...noAlerts, changed: alerts(50) })).rejects.toThrow(/overwritten|truncated/);
  await next.close();
  using reader = new DatabaseSync(path, { readOnly: true });
  expect(reader.prepare('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }]);
});

describe('a WAL whose file is not there any more', () => {
  test.each(putThere)('is put aside by the next start, which continues with %s', async (_what, put) => {
    const { path, notice, ...of } = await opened();
    put(path, of);
    await notice();
    const next = await afterKill(path);
    expect(next).toMatchObject({
      alerts: 100,
      check: 'ok',
      aside: ['warmwarden.db.aside-1-shm', 'warmwarden.db.aside-1-wal'],
    });
    expect(next.store.warnings).toEqual([
      expect.stringContaining(`${next.file} is not the file that the last process had open.`),
    ]);
  });

  test('is put aside, too, when nothing was put in the place of the file', async () => {
    const { path } = await opened();
    renameSync(path, `${path}.away`);
    const { file, folder, aside } = await afterKill(path);
    expect(aside).toEqual(['warmwarden.db.aside-1-shm', 'warmwarden.db.aside-1-wal']);
    renameSync(join(folder, 'warmwarden.db.away'), `${file}.aside-1`);
    using earlier = new DatabaseSync(`${file}.aside-1`);
    expect(earlier.prepare('SELECT count(*) AS n FROM alerts').get()).toEqual({ n: 200 });
  });

  test('is not deleted by a command that reads while an empty file is there', async () => {
    const { path } = await opened();
    renameSync(path, `${path}.away`);
    writeFileSync(path, '');
    await expect(Promise.resolve().then(() => Ledger.open(path))).rejects.toThrow('the file is empty');
    expect(existsSync(`${path}-wal`)).toBe(true);
  });

  const cuts = [[0], [8_192]];
  test.each(cuts)('is put aside, too, when the file was cut to %i bytes and a backup was put there', async (bytes) => {
    const { path, notice, backup } = await opened();
    truncateSync(path, bytes);
    await notice();
    // SQLite would delete it beside an empty file.
    expect(left(path).aside).toHaveLength(bytes === 0 ? 2 : 0);
    rmSync(path);
    copyFileSync(backup, path);
    expect(await afterKill(path)).toMatchObject({ alerts: 100, check: 'ok' });
    expect(left(path).aside).toHaveLength(2);
  });

  test('is read beside the earlier file, under the name that the log gives', async () => {
    const { path, notice, backup } = await opened();
    renameSync(path, `${path}.away`);
    await notice();
    copyFileSync(backup, path);
    const { file, folder, alerts } = await afterKill(path);
    expect(alerts).toBe(100);
    renameSync(join(folder, 'warmwarden.db.away'), `${file}.aside-1`);
    using earlier = new DatabaseSync(`${file}.aside-1`);
    expect(earlier.prepare('SELECT count(*) AS n FROM alerts').get()).toEqual({ n: 200 });
  });

  test('does not replace an earlier one that was put aside, of which five are kept', async () => {
    const { path, notice, backup } = await opened();
    for (const n of [1, 2, 3, 4]) writeFileSync(`${path}.aside-${n}-wal`, `earlier ${n}`);
    rmSync(path);
    await notice();
    copyFileSync(backup, path);
    const { file, aside } = await afterKill(path);
    expect(aside.filter((name) => name.endsWith('-wal'))).toHaveLength(5);
    for (const n of [1, 2, 3, 4]) expect(readFileSync(`${file}.aside-${n}-wal`, 'utf8')).toBe(`earlier ${n}`);
    writeFileSync(`${path}.aside-5-wal`, 'earlier 5');
    const next = await afterKill(path);
    expect(next.aside.filter((name) => name.endsWith('-wal'))).toHaveLength(5);
  });
});

describe('a WAL that belongs to the file', () => {
  const kept = { alerts: 200, check: 'ok', aside: [] };

  test('is kept when nothing was replaced, although the store failed', async () => {
    const { path, store } = await opened();
    {
      using _ = failWrites(() => true);
      await expect(store.proveWritable(now)).rejects.toThrow('full');
      await store.keepOutage({ alert: alertOf('m1', { firingAt: now }), notified: [] });
    }
    expect(await afterKill(path)).toMatchObject(kept);
  });

  test('is kept when the original was put back, before and after the first write', async () => {
    const { path, write, notice } = await opened();
    renameSync(path, `${path}.away`);
    await notice();
    renameSync(`${path}.away`, path);
    const left = readFileSync(`${path}.failing`);
    expect(await afterKill(path)).toMatchObject(kept);
    await write(220);
    // As a kill between the write and the note would leave it.
    writeFileSync(`${path}.failing`, left);
    expect(await afterKill(path)).toMatchObject({ ...kept, alerts: 220 });
  });

  test('is kept when it came with the file that was put there', async () => {
    const other = await opened();
    const { path, notice } = await opened();
    renameSync(path, `${path}.away`);
    await notice();
    for (const ending of ['', '-wal']) {
      rmSync(`${path}${ending}`, { force: true });
      execFileSync('cp', ['-a', `${other.path}${ending}`, `${path}${ending}`]);
    }
    expect(await afterKill(path)).toMatchObject(kept);
  });

  test('is kept by the second start after a replacement, when the first was killed, too', async () => {
    const { path, notice, backup } = await opened();
    renameSync(backup, path);
    await notice();
    const first = await afterKill(path);
    await first.store.recordAlerts({ ...noAlerts, changed: [alertOf('new')] });
    const second = await afterKill(first.file);
    expect(second).toMatchObject({ alerts: 101, check: 'ok' });
    expect(existsSync(`${second.file}.aside-2-wal`)).toBe(false);
  });
});
