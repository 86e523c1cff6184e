// A recipe's SELECT tries everything: to write, to attach, to see more than the views, to run for ever, to fill the memory.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { StatsRow } from '../../src/core/answers.ts';
import { mailboxKey } from '../../src/core/mailbox.ts';
import { dayMs, hourMs } from '../../src/core/time.ts';
import { readDefinition } from '../../src/recipes/definition.ts';
import { baseTables, views } from '../../src/recipes/views.ts';
import { Store } from '../../src/store/store.ts';
import { row } from '../guard/samples.ts';
import { actionOf, arrivedMailbox, emptyAnswer, emptyList, now } from '../store/records.ts';
import { folderOfFile } from '../support/new-folder.ts';
import { noFacts, selected } from '../support/selected.ts';
import { mailbox as judgedMailbox, verdict } from '../web/example-fleet.ts';

const folder = folderOfFile();
// A name that has to be escaped in a URL, and one that would end a text in SQL.
const path = join(folder, "o'hara #1 100%.db");
const endless = 'WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r)';
const mailbox = arrivedMailbox('m1');
let store: Store;

beforeAll(async () => {
  store = await Store.open(path, now);
  await store.recordList({ ...emptyList, present: [mailbox] });
});
afterAll(async () => {
  await store.close();
});

const ask = (select: string, changes: Parameters<typeof selected>[2] = {}) => selected(path, select, changes);

describe('a SELECT', () => {
  test('reads a view of the store, with its parameters', async () => {
    const { rows, columns, error } = await ask('SELECT email, :now AS at FROM mailboxes');
    expect({ rows, columns, error }).toEqual({
      rows: [[mailbox.email, new Date(now).toISOString()]],
      columns: ['email', 'at'],
      error: null,
    });
  });

  test('is shown for each view in docs/recipe-views.md', async () => {
    const page = readFileSync(new URL('../../docs/recipe-views.md', import.meta.url), 'utf8');
    const examples = [...page.matchAll(/^## (\w+)$.*?```sql\n(.*?)```/gms)];
    expect(examples.map(([, name]) => name)).toEqual(views.map(({ name }) => name));
    for (const [, name, select = ''] of examples) expect((await ask(select)).error, name).toBeNull();
  });

  test('knows a later reading of counts that the store did not write again', async () => {
    const place = join(folder, 'read.db');
    const other = await Store.open(place, now);
    await other.recordList({ ...emptyList, present: [judgedMailbox('m1', 'a@acme.example')] });
    await other.close();
    const facts = { ...noFacts, statsAt: { 'acme/m1': now - 5 * 60_000 } };
    const { rows } = await ask('SELECT stats_at, stats_age_minutes FROM mailboxes', { place, facts });
    expect(rows).toEqual([[new Date(now - 5 * 60_000).toISOString(), 5]]);
  });

  test('does not call a mailbox with stale statistics ok', async () => {
    const place = join(folder, 'stale.db');
    const other = await Store.open(place, now);
    const judged = judgedMailbox('m1', 'a@acme.example', { stats: null });
    await other.recordList({ ...emptyList, present: [judged] });
    const decision = { verdict: verdict(), at: now, unchanged: false, judged: 1, days: [] };
    await other.recordAnswer({ ...emptyAnswer, mailbox: judged, decisions: [decision] });
    await other.close();
    const state = async (stale: readonly string[]) => {
      return (await ask('SELECT state FROM mailboxes', { place, facts: { ...noFacts, stale } })).rows;
    };
    expect(await state([])).toEqual([['ok']]);
    expect(await state(['acme/m1'])).toEqual([['not_judged']]);
  });

  test('groups the mailboxes by a tag, as the configuration gives it', async () => {
    const tags = { [mailboxKey(mailbox.account, mailbox.id)]: ['client=north', 'vip'] };
    const facts = { ...noFacts, tags };
    const select =
      'SELECT tag, value, count(*) FROM mailboxes JOIN mailbox_tags USING (account, mailbox_id) GROUP BY 1, 2';
    const rows = [
      ['client', 'north', 1],
      ['vip', 'true', 1],
    ];
    expect(await ask(select, { facts })).toMatchObject({ rows, error: null });
  });

  test('reports the week of each client: its mailboxes, its pauses with their reasons, and what was restored', async () => {
    const place = join(folder, 'clients.db');
    const others = [arrivedMailbox('m2'), arrivedMailbox('m3')];
    const clients = await Store.open(place, now);
    await clients.recordList({ ...emptyList, present: [mailbox, ...others] });
    const done = { account: mailbox.account, plannedAt: now - 1, state: 'confirmed' } as const;
    await clients.recordActions([
      actionOf('m1', { ...done, id: 'a1', kind: 'pause', by: { name: 'ann', reason: 'a bad list' } }),
      actionOf('m1', { ...done, id: 'a2', kind: 'restore' }),
      actionOf('m3', { ...done, id: 'a3', kind: 'pause' }),
    ]);
    const stats = (at: number, rows: readonly StatsRow[]) => ({ at, answer: { rows } });
    const answered = [
      { ...mailbox, stats: stats(now - hourMs, [row('2026-03-09', 12, 1)]) },
      { ...arrivedMailbox('m2'), stats: stats(now - 2 * dayMs, [row('2026-03-08', 5, 0)]) },
      {
        ...arrivedMailbox('m3'),
        stats: stats(now, [row('2026-03-08', 7, 0), { ...row('2026-03-09', 0, 0), sent: null }]),
      },
    ];
    for (const one of answered) await clients.recordAnswer({ ...emptyAnswer, mailbox: one });
    await clients.close();
    const tags = Object.fromEntries(
      [mailbox, ...others].map(({ account, id }) => [
        mailboxKey(account, id),
        [`client=${id === 'm3' ? 'south' : 'north'}`],
      ]),
    );
    const facts = { ...noFacts, tags };
    const file = join(import.meta.dirname, '../../src/recipes/built-in/client-report.yaml');
    const read = readDefinition(readFileSync(file, 'utf8'), { file, builtIn: true });
    if ('problems' in read) throw new Error(read.problems.join());
    const parameters = { now: new Date(now).toISOString(), tag: 'client', value: null };
    const { rows, columns, error } = await ask(read.definition.select, { place, facts, parameters });
    expect(error).toBeNull();
    const shown = ['client', 'mailboxes', 'not_fully_read', 'sent', 'paused', 'pauses', 'restored'].map((name) =>
      columns.indexOf(name),
    );
    expect(rows.map((row) => shown.map((index) => row[index]))).toEqual([
      ['north', 2, 1, 17, 1, expect.stringMatching(/^\S+@\S+: ann$/), 1],
      ['south', 1, 1, 7, 1, expect.stringMatching(/^\S+@\S+: [a-z ]+$/), 0],
    ]);
    const north = await ask(read.definition.select, { place, facts, parameters: { ...parameters, value: 'north' } });
    expect(north.rows).toEqual(rows.slice(0, 1));
  });

  test.each(views.map(({ name }) => name))('may read every column of the view %s', async (name) => {
    const { error, columns } = await ask(`SELECT * FROM ${name}`);
    expect(error).toBeNull();
    expect(columns).toEqual(views.find((view) => view.name === name)?.columns.map((column) => column.name));
  });

  test.each([
    ['a table that no view shows', 'SELECT * FROM meta'],
    ['how many rows such a table has', 'SELECT count(*) FROM meta'],
    ['such a table under the name of a view', 'WITH mailboxes AS (SELECT value FROM meta) SELECT * FROM mailboxes'],
    ['the table behind a view', 'WITH mailboxes AS (SELECT answer FROM observations) SELECT * FROM mailboxes'],
    ['the table behind a view, by its schema', 'SELECT * FROM main.mailboxes'],
    ['the payload of a message', 'SELECT payload FROM deliveries'],
    ['the schema', 'SELECT sql FROM sqlite_schema'],
    ['the schema of the views', 'SELECT count(*) FROM sqlite_temp_schema'],
    ['the names of the files', 'SELECT file FROM pragma_database_list'],
    ['the settings', 'PRAGMA database_list'],
    ['how it is run', 'EXPLAIN SELECT * FROM mailboxes'],
    ['pages of the file', 'SELECT * FROM dbstat'],
    ['a file', "SELECT readfile('/etc/passwd')"],
  ])('does not see %s', async (_what, select) => {
    const { rows, error } = await ask(select);
    if (!select.startsWith('EXPLAIN')) expect(error).toMatch(/^SQLite says: /);
    expect(JSON.stringify(rows)).not.toMatch(/schema_version|holder|store_[0-9a-f]{32}/);
    if (!select.startsWith('EXPLAIN')) expect(rows).toEqual([]);
  });

  test.each([
    ['insert', "INSERT INTO meta VALUES ('a', 'b')"],
    ['update', "UPDATE mailboxes SET email = 'x'"],
    ['delete', 'DELETE FROM mailboxes'],
    ['drop', 'DROP TABLE mailboxes'],
    ['make a table', 'CREATE TEMP TABLE t (a)'],
    ['attach a file', `ATTACH '${join(folder, 'other.db')}' AS other`],
    ['copy the store', `VACUUM INTO '${join(folder, 'copy.db')}'`],
    ['change a setting', 'PRAGMA query_only = OFF'],
    ['begin a transaction', 'BEGIN IMMEDIATE'],
    ['load code', "SELECT load_extension('/tmp/x.so')"],
  ])('can not %s', async (_what, statement) => {
    const { error } = await ask(statement);
    expect(error).toMatch(/^SQLite says: /);
  });

  test('is no way to a second statement', async () => {
    await ask('SELECT 1; DELETE FROM mailboxes');
    expect((await ask('SELECT count(*) FROM mailboxes')).rows).toEqual([[1]]);
  });

  test('that gives rows for ever ends at the row limit, and says so', async () => {
    const { rows, truncated, error } = await ask(`${endless} SELECT x FROM r`);
    expect([rows.length, rows.at(-1), truncated, error]).toEqual([1_000, [1_000], true, null]);
  });

  test('that gives large rows ends at the byte limit', async () => {
    const { rows, truncated } = await ask(`${endless} SELECT hex(zeroblob(50000)) AS much FROM r`);
    expect([rows.length, truncated]).toEqual([9, true]);
  });

  test('that gives large rows ends at the byte limit, however few letters that is', async () => {
    const { rows, truncated } = await ask(`${endless} SELECT replace(hex(zeroblob(12500)), '0', '€') AS much FROM r`);
    expect([rows.length, truncated]).toEqual([13, true]);
  });

  test('that computes for ever is stopped at the time limit', async () => {
    const { error } = await ask(`${endless} SELECT count(*) FROM r`, { timeLimitMs: 500 });
    expect(error).toBe('it took longer than 0.5 s and was stopped');
  });

  test('that is cancelled ends at once', async () => {
    const stop = new AbortController();
    const asked = ask(`${endless} SELECT count(*) FROM r`, { signal: stop.signal });
    stop.abort();
    expect((await asked).error).toMatch(/^its process was killed/);
  });

  test.each([
    ['one huge value', 'SELECT length(zeroblob(900000000))'],
    [
      'a value that doubles',
      "WITH RECURSIVE r(x) AS (SELECT 'a' UNION ALL SELECT x || x FROM r) SELECT length(x) FROM r",
    ],
    ['a huge row', 'SELECT hex(zeroblob(400000))'],
  ])('that asks for %s fails, and takes no memory', async (_what, select) => {
    expect((await ask(select)).error).toMatch(/too big|larger than/);
  });

  test('that sorts more than a temporary file may hold fails', async () => {
    const select = `WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r LIMIT 400000)
      SELECT x, zeroblob(2000) AS much FROM r ORDER BY x DESC`;
    expect((await ask(select)).error).toMatch(/disk/);
  });

  test('keeps what JavaScript can not hold as text', async () => {
    const { rows } = await ask("SELECT 9223372036854775807 AS a, x'00ff' AS b, 1.5 AS c, NULL AS d");
    expect(rows).toEqual([['9223372036854775807', '00ff', 1.5, null]]);
  });
});

test('the tables that a SELECT is checked against are those of the store', () => {
  const database = new DatabaseSync(path, { readOnly: true });
  for (const [table, columns] of Object.entries(baseTables)) {
    const there = database.prepare(`SELECT name FROM pragma_table_info('${table}')`).all();
    expect(there.map(({ name }) => name)).toEqual(expect.arrayContaining([...columns]));
  }
  database.close();
});
