// The store of issue "out of the laboratory": damaged, replaced or locked while the daemon runs, with every light green.

import { chmodSync, linkSync, readdirSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { hourMs, minuteMs, secondMs } from '../../src/core/time.ts';
import { failureOf } from '../../src/store/failure.ts';
import { backUp } from '../../src/store/file/backup.ts';
import { Store } from '../../src/store/store.ts';
import { oliver, stormOf } from '../account/duty.ts';
import { startMovedDaemon } from '../scenario/moved-daemon.ts';
import { alertOf, arrivedMailbox, memory, noAlerts, now } from '../store/records.ts';
import { failWrites } from '../support/failing-writes.ts';
import { newFolder, openedStore } from '../support/new-folder.ts';

async function opened() {
  const { path, store } = await openedStore(now);
  const write = () => store.recordAlerts({ ...noAlerts, changed: [alertOf('m1')] });
  return { path, store, write };
}

describe('a store that fails while the daemon runs', () => {
  const begin = async () => {
    const expectErrors = ['The store is failing.', 'an answer could not be recorded'];
    const stage = await startMovedDaemon({ scenario: stormOf(oliver), poll: { stats: '*/5 * * * *' }, expectErrors });
    await stage.run(10 * minuteMs);
    const path = stage.storePath;
    const firing = async () => /alerts_firing\{[^}]*rule="store_failing"[^}]*\} 1/.test(await stage.text('/metrics'));
    return { ...stage, stage, path, ready: stage.readyz, firing };
  };

  test('is noticed when ticks fail while a probe of its own row succeeds, and its end sends a message', async () => {
    const { stage, path, ready, firing, run, notified } = await begin();
    await using _ = stage;
    const other = new DatabaseSync(path);
    other.exec('ALTER TABLE observations RENAME TO lost');
    // An unchanged answer is written once an hour.
    await run(hourMs + 6 * minuteMs);
    expect([await ready(), await firing()]).toEqual([
      expect.stringMatching(/^503 not ready: the store is failing .*: No such table/),
      true,
    ]);
    expect(notified('store_failing')).toEqual(['firing']);
    // Repaired by a person; the process that starts then tells the end.
    other.exec('ALTER TABLE lost RENAME TO observations');
    other.close();
    await stage.restart();
    await run(2 * minuteMs);
    expect([await ready(), await firing(), notified('store_failing')]).toEqual([
      '200 ready',
      false,
      ['firing', 'resolved'],
    ]);
  });

  test('fires an alert at its first failed write, and is ended by a restart: the process that finds it working says so, once', async () => {
    const { stage, path, run, notified } = await begin();
    await using _ = stage;
    const disk = { full: true };
    using writes = failWrites(() => disk.full);
    await stage.until('a write', () => writes.failed > 0, 10 * minuteMs);
    await run(secondMs);
    expect(notified('store_failing')).toEqual(['firing']);
    expect(mode(`${path}.failing`)).toBe('600');
    await stage.restart(() => Object.assign(disk, { full: false }));
    await run(2 * minuteMs);
    await stage.restart();
    await run(10 * minuteMs);
    expect(notified('store_failing')).toEqual(['firing', 'resolved']);
  });
});

test.each(['', '-wal', '-shm'])(
  'another file in the place of warmwarden.db%s is noticed before anything is written',
  async (ending) => {
    const { path, store, write } = await opened();
    await write();
    renameSync(`${path}${ending}`, `${path}.away`);
    await expect(write()).rejects.toThrow(`${path}${ending} was deleted or replaced`);
    expect(store.trouble).toMatchObject({ failures: 1 });
    renameSync(`${path}.away`, `${path}${ending}`);
    await write();
  },
);

describe('the WAL of the store', () => {
  test('is moved aside by the next start when another file was put there', async () => {
    const { path, store, write } = await opened();
    await write();
    await backUp(path, `${path}.backup`);
    await store.recordAlerts({ ...noAlerts, changed: [alertOf('later')] });
    renameSync(path, `${path}.away`);
    renameSync(`${path}.backup`, path);
    await expect(write()).rejects.toThrow('was deleted or replaced');
    await store.close();
    const next = await Store.open(path, now);
    onTestFinished(() => next.close());
    expect((await next.loadPicture()).alerts).toHaveLength(1);
    expect(next.warnings).toEqual([expect.stringContaining(`${path} is not the file that the last process had open.`)]);
    renameSync(`${path}.away`, `${path}.aside`);
    using earlier = new DatabaseSync(`${path}.aside`);
    expect(earlier.prepare('SELECT count(*) AS n FROM alerts').get()).toEqual({ n: 2 });
  });

  test.each([[['-wal']], [['-shm']], [['-wal', '-shm']]])(
    'that was deleted (%j) takes nothing with it when the process ends in order',
    async (endings) => {
      const { path, store, write } = await opened();
      await write();
      for (const ending of endings) rmSync(`${path}${ending}`);
      await expect(store.proveWritable(now)).rejects.toThrow('was deleted or replaced');
      await store.close();
      const next = await Store.open(path, now);
      onTestFinished(() => next.close());
      expect((await next.loadPicture()).alerts).toHaveLength(1);
    },
  );
});

test('a lock of another process is a failed write after a moment, and the next write succeeds when it is gone', async () => {
  const { path, store, write } = await opened();
  const other = new DatabaseSync(path);
  onTestFinished(() => other.close());
  other.exec('BEGIN IMMEDIATE');
  const begun = performance.now();
  await expect(write()).rejects.toThrow('locked');
  expect(performance.now() - begun).toBeLessThan(1_000);
  expect(store.trouble).toMatchObject({ failures: 1, newest: { lasting: false, mayPass: true } });
  expect(store.trouble.newest?.remedy).toContain('Another process has locked');
  other.exec('ROLLBACK');
  await write();
});

const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);
/** Of the folder and every file in it. */
const modes = (folder: string) =>
  Object.fromEntries([['', mode(folder)], ...readdirSync(folder).map((name) => [name, mode(join(folder, name))])]);

describe('other users of the machine', () => {
  const opening = async (path: string, look: (store: Store) => void) => {
    const store = await Store.open(path, now);
    try {
      await store.recordAlerts({ ...noAlerts, changed: [alertOf('m1')] });
      look(store);
    } finally {
      await store.close();
    }
  };

  test('lose what an earlier version left open to them', async () => {
    const folder = newFolder();
    const path = join(folder, 'w.db');
    await opening(path, () => {});
    for (const ending of ['', '.lock']) chmodSync(`${path}${ending}`, 0o644);
    chmodSync(folder, 0o755);
    await opening(path, ({ warnings }) => {
      expect(new Set(Object.values(modes(folder)))).toEqual(new Set(['600', '700']));
      expect(warnings).toEqual([]);
    });
  });

  test('keep a folder that holds more than the store, and its owner is warned', async () => {
    const folder = newFolder();
    chmodSync(folder, 0o1777);
    writeFileSync(join(folder, 'theirs.txt'), '', { mode: 0o644 });
    await opening(join(folder, 'w.db'), ({ warnings }) => {
      expect(modes(folder)).toMatchObject({ '': '777', 'theirs.txt': '644', 'w.db': '600' });
      expect(warnings).toEqual([expect.stringContaining(`${folder} (mode 0777), which holds other files too`)]);
    });
  });
});

describe('a second name of the store', () => {
  test('is refused when it is a hard link, and so is the first', async () => {
    const { path, store, write } = await opened();
    const second = `${path}.other`;
    linkSync(path, second);
    for (const one of [path, second]) await expect(Store.open(one, now)).rejects.toThrow('hard link');
    await write();
    rmSync(second);
    expect(store.trouble.failures).toBe(0);
  });

  test('finds the same lock when it is a link to the file, and is refused when it is a link to a file that does not exist', async () => {
    const { path } = await opened();
    const folder = newFolder();
    symlinkSync(path, join(folder, 'link.db'));
    await expect(Store.open(join(folder, 'link.db'), now)).rejects.toThrow('is in use by');
    symlinkSync(join(folder, 'nowhere.db'), join(folder, 'dangling.db'));
    await expect(Store.open(join(folder, 'dangling.db'), now)).rejects.toThrow('a link to a file that does not exist');
  });
});

describe('a damaged row', () => {
  test.each([
    ['observations', 'answer', '{"rows":', "account = 'acme' AND mailbox_id = 'm1' AND route = 'mailboxes'"],
    ['mailboxes', 'memory', 'null', "account = 'acme' AND mailbox_id = 'm1'"],
    ['alerts', 'alert', 'x', "fingerprint = 'stale_data|acme|m1|'"],
  ])('of %s is named at start with its file, its table and a command', async (table, column, text, where) => {
    const { path, store, write } = await opened();
    const list = { account: 'acme', absent: [], left: [], leftAt: now, alerts: noAlerts, breaker: null };
    await store.recordList({ ...list, present: [arrivedMailbox('m1', { memory })] });
    await write();
    const database = new DatabaseSync(path);
    database.prepare(`UPDATE ${table} SET ${column} = ?`).run(text);
    const command = `sqlite3 ${path} "DELETE FROM ${table} WHERE ${where}"`;
    const said = String(await store.loadPicture().catch((error: unknown) => error));
    expect(said).toContain(`The store ${path} is damaged: a row of the table ${table} can't be read`);
    expect(said.endsWith(command)).toBe(true);
    expect(store.trouble.newest).toMatchObject({ lasting: true });
    database.exec(command.slice(command.indexOf('"') + 1, -1));
    database.close();
    await store.loadPicture();
  });

  test('of deliveries is named to its channel, and deleted by the command', async () => {
    const { path, store } = await opened();
    const delivery = { id: 'd1', channel: 'ops', group: 'g', payload: '{}', title: '', alerts: [] };
    await store.outbox.recordDeliveries({ transitionIds: [], deliveries: [delivery], now });
    const database = new DatabaseSync(path);
    onTestFinished(() => database.close());
    database.prepare('UPDATE deliveries SET delivery = ?').run('{');
    const command = `sqlite3 ${path} "DELETE FROM deliveries WHERE id = 'd1'"`;
    for (const read of [() => store.outbox.pendingDeliveries('ops', 9), () => store.outbox.recentDeliveries(9)]) {
      await expect(read()).rejects.toThrow("a row of the table deliveries can't be read (id = 'd1')");
    }
    expect(store.trouble.newest).toMatchObject({ lasting: true, remedy: expect.stringContaining(command) });
    database.exec(command.slice(command.indexOf('"') + 1, -1));
    expect(await store.outbox.pendingDeliveries('ops', 9)).toEqual([]);
  });

  test('whose key is a text for a shell is named without a command', async () => {
    const { path, store } = await opened();
    const silence = { id: '$(reboot)', match: {}, by: 'ann', reason: '', from: now, until: now + 1 };
    await store.recordSilence(silence);
    const database = new DatabaseSync(path);
    database.exec("UPDATE silences SET silence = ''");
    database.close();
    const said = String(await store.loadPicture().catch((error: unknown) => error));
    expect(said).toMatch(/a row of the table silences can't be read .* and delete the row\.$/);
  });
});

test.each([
  [11, 'database disk image is malformed', true, /\/var\/store\.db is damaged/],
  [26, 'file is not a database', true, /\/var\/store\.db is damaged/],
  // No person is to replace a sound store.
  [1, 'cannot start a transaction within a transaction', false, /^Check \/var\/store\.db and its folder \/var;/],
  [1, 'no such table: observations', true, /^A part of \/var\/store\.db was deleted: stop Warmwarden, put a backup/],
])('an error of SQLite itself with code %i, "%s", lasts: %s', (errcode, said, lasting, remedy) => {
  const failure = failureOf('/var/store.db', Object.assign(new Error(said), { errcode }));
  expect(failure).toMatchObject({ lasting, remedy: expect.stringMatching(remedy) });
});
