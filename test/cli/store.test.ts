// `warmwarden store`: soundness, and a backup that a daemon starts on.
import { closeSync, openSync, readdirSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import { backUp } from '../../src/store/file/backup.ts';
import { Store } from '../../src/store/store.ts';
import { amelia, oliver, stormOf } from '../account/duty.ts';
import { startMovedDaemon } from '../scenario/moved-daemon.ts';
import { commandLine } from '../support/command-line.ts';
import { newFolder } from '../support/new-folder.ts';

/** A configuration beside a store of its own, and how a command is run with it. */
function place() {
  const folder = newFolder();
  const path = join(folder, 'warmwarden.db');
  const config = join(folder, 'config.yaml');
  const account = '{name: agency, base_url: "http://127.0.0.1:1", api_key: sk_live_x}';
  writeFileSync(config, `accounts: [${account}]\nstore: {url: "sqlite:${path}"}\n`);
  const run = async (...args: string[]) => {
    const { stdout, stderr, code } = await commandLine(['store', ...args, '--config', config]);
    return { stdout, stderr, code };
  };
  return { folder, path, run };
}

function fill(path: string, rows: number, at: number): void {
  const database = new DatabaseSync(path);
  const insert = database.prepare("INSERT INTO changes (account, mailbox_id, at, change) VALUES ('a', 'm', ?, ?)");
  database.exec('BEGIN');
  for (let row = 0; row < rows; row += 1) insert.run(at, JSON.stringify({ text: 'x'.repeat(1_000) }));
  database.exec('COMMIT');
  database.close();
}

test('a backup that is made while the daemon runs starts a daemon with everything in it', async () => {
  const poll = { health: '0 * * * *', mailboxes: '*/10 * * * *', stats: '*/10 * * * *', warmup: '*/30 * * * *' };
  await using stage = await startMovedDaemon({ scenario: stormOf(amelia, oliver), poll });
  const isRecovering = () => stage.mailbox(amelia).memory?.claim?.kind === 'recovery';
  await stage.run(minuteMs);
  await stage.until('the recovery', isRecovering, 4 * hourMs);
  const file = join(newFolder(), 'backup.db');
  const { code, stdout, stderr } = await commandLine(['store', 'backup', file, '--config', stage.file]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^The backup of .* is in .*backup\.db: \d+ KB, checked, written in \d+ s\.\n$/);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const { memory, action } = stage.mailbox(amelia);
  const posts = [...stage.posts];
  await stage.restart((config) => {
    config['store'] = { url: `sqlite:${file}` };
  });
  expect(stage.mailbox(amelia)).toMatchObject({ action, memory: { claim: memory?.claim } });
  await stage.run(hourMs);
  expect([stage.posts, isRecovering()]).toEqual([posts, true]);
});

test('a backup never overwrites a file, and what can’t be written leaves nothing behind', async () => {
  const { folder, path, run } = place();
  await (await Store.open(path, Date.now())).close();
  const file = join(folder, 'backup.db');
  writeFileSync(file, 'mine');
  expect(await run('backup', file)).toEqual({
    ...{ code: 1, stdout: '' },
    stderr: `${file} already exists: name another file, or delete it first.\n`,
  });
  const nowhere = join(folder, 'nothing', 'backup.db');
  expect(await run('backup', nowhere)).toMatchObject({ code: 1, stderr: expect.stringContaining("can't be written") });
});

test('what a killed backup left is named by the next backup to that file, which leaves it there', async () => {
  const { folder, path } = place();
  await (await Store.open(path, Date.now())).close();
  writeFileSync(join(folder, 'backup.db.part'), 'left');
  await expect(backUp(path, join(folder, 'backup.db'))).rejects.toThrow(
    'another backup is writing it. If none is, delete it.',
  );
  expect(readdirSync(folder)).toContain('backup.db.part');
});

test('a store that is sound is said to be, and what is damaged is named', async () => {
  const { path, run } = place();
  await (await Store.open(path, Date.now())).close();
  fill(path, 300, 1);
  expect(await run('check')).toEqual({
    ...{ code: 0, stderr: '' },
    stdout: `The store ${path} is sound: Warmwarden read all of it.\n`,
  });
  const database = new DatabaseSync(path);
  database.exec("UPDATE changes SET change = '{half' WHERE id = 7");
  expect(await run('check')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("A row of the table changes can't be read: its column change is damaged (id = 7)."),
  });
  const stats = database.prepare(
    `INSERT INTO observations (account, mailbox_id, route, observed_at, answer) VALUES ('acme', ?, 'stats', 1, ?)`,
  );
  for (let index = 0; index < 250; index += 1) stats.run(`m${index}`, '{"rows":[]}');
  stats.run('m9-odd', '5');
  stats.run('m9-half', '{half');
  expect((await run('check')).stderr.split('\n').slice(0, -2)).toEqual([
    `The store ${path} has 3 problems:`,
    "A row of the table observations can't be read: its column answer is damaged (account = 'acme', mailbox_id = 'm9-half', route = 'stats').",
    "A row of the table observations can't be read: its column answer is damaged (account = 'acme', mailbox_id = 'm9-odd', route = 'stats').",
    "A row of the table changes can't be read: its column change is damaged (id = 7).",
  ]);
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  database.close();
  const handle = openSync(path, 'r+');
  writeSync(handle, Buffer.alloc(4_096, 7), 0, 4_096, statSync(path).size - 4 * 4_096);
  closeSync(handle);
  const broken = await run('check', '--json');
  expect([broken.code, JSON.parse(broken.stdout).error.message]).toEqual([
    1,
    expect.stringContaining('The file is damaged'),
  ]);
});
