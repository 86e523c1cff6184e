// `warmwarden store` with a PostgreSQL store: soundness, and what PostgreSQL does itself.
import { closeSync, openSync, writeSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import type { PostgresPlace } from '../../src/core/store-failure.ts';
import { openPostgres } from '../../src/store/postgres.ts';
import { commandLine } from '../support/command-line.ts';
import { TestPostgres } from '../support/postgres.ts';
import { Workplace } from '../support/process.ts';

// One of its own: its files are damaged.
const postgres = await TestPostgres.own();
afterAll(() => postgres[Symbol.asyncDispose]());

/** A store in a new database, and how a command is run with it. */
async function open(workplace: Workplace) {
  const place: PostgresPlace = await postgres.database();
  const database = await openPostgres(place, Date.now());
  await database.close();
  const url = `postgres://${place.user}@${place.host}:${place.port}/${place.database}`;
  const config = workplace.configure({
    accounts: [{ name: 'agency', base_url: 'http://127.0.0.1:1', api_key: 'sk_live_x' }],
    store: { url, tls: 'off', password: 'hush-of-postgres' },
  });
  const run = async (...args: string[]) => {
    const { stdout, stderr, code } = await commandLine(['store', ...args, '--config', config]);
    expect(stdout + stderr).not.toContain('hush-of-postgres');
    return { stdout, stderr, code };
  };
  await postgres.query(`ALTER DATABASE ${place.database} SET search_path = warmwarden`);
  const query = (sql: string) => postgres.query(sql, place.database);
  return { run, query };
}

const changes = (rows: number, at: number) =>
  `INSERT INTO changes (account, mailbox_id, at, change)
    SELECT 'a', 'm', ${at}, json_build_object('text', repeat(md5(n::text), 30))::text FROM generate_series(1, ${rows}) n`;

test('check reads all rows, names what is damaged and what does not fit, and exits with 1 then', async () => {
  using workplace = new Workplace();
  const { run, query } = await open(workplace);
  await query(changes(1_200, 1));
  expect(await run('check')).toEqual({
    ...{ code: 0, stderr: '' },
    stdout: expect.stringMatching(
      /^The store \S+ is sound: Warmwarden read all of it\. Check its indexes with pg_amcheck\.\n$/,
    ),
  });
  await query("UPDATE changes SET change = '{half' WHERE id = 1107");
  const opened = (id: string) => `('${id}', 'agency', 'm1', 'open', 1, '{}')`;
  await query(
    `INSERT INTO actions (id, account, mailbox_id, state, planned_at, action) VALUES ${opened('x')}, ${opened('y')}`,
  );
  await query("INSERT INTO run_rows VALUES ('run-9', 0, 0, '[]')");
  await query(`INSERT INTO observations (account, mailbox_id, route, observed_at, answer)
    SELECT 'a', 'm' || n, 'stats', 1, CASE n WHEN 240 THEN '{half' ELSE '{"rows":[]}' END
    FROM generate_series(1, 250) n`);
  const damaged = (table: string, column: string, key: string) =>
    `A row of the table ${table} can't be read: its column ${column} is damaged (${key}).`;
  const { code, stderr } = await run('check');
  expect([code, stderr.split('\n').slice(1, -1)]).toEqual([
    1,
    [
      damaged('observations', 'answer', "account = 'a', mailbox_id = 'm240', route = 'stats'"),
      damaged('changes', 'change', 'id = 1107'),
      'More than one action is in progress for a mailbox: agency/m1.',
      'The table run_rows has rows of a run that is not there: run-9.',
      'Stop all Warmwarden processes on it and restore a backup.',
    ],
  ]);
});

test('check names a table that PostgreSQL itself can’t read', async () => {
  using workplace = new Workplace();
  const { run, query } = await open(workplace);
  await query(changes(300, 1));
  const [file] = await query(
    "SELECT current_setting('data_directory') || '/' || pg_relation_filepath('changes') AS path",
  );
  await postgres.down('fast');
  const handle = openSync(String(file?.['path']), 'r+');
  writeSync(handle, Buffer.alloc(64, 0x7f), 0, 64, 8_192);
  closeSync(handle);
  await postgres.up();
  expect(await run('check')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /has 1 problem:\nThe database is damaged: PostgreSQL at \S+ reports: invalid page in block 1 of relation/,
    ),
  });
});

test('what PostgreSQL does itself is said, with the exit code of a misuse', async () => {
  using workplace = new Workplace();
  const { run } = await open(workplace);
  expect(await run('backup', workplace.path('backup.db'))).toEqual({
    ...{ code: 2, stdout: '' },
    stderr: expect.stringMatching(/^The store is \S+: back it up with `pg_dump --schema=warmwarden`, .*\.\n$/),
  });
});
