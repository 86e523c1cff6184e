// Every text of a statement was kept prepared for ever; lists of other lengths are other texts: 155 MB.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sql } from 'kysely';
import { afterAll, expect, test, vi } from 'vitest';
import { connect } from '../../src/store/file/connection.ts';

const folder = mkdtempSync(join(tmpdir(), 'warmwarden-statements-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const padding = (letters: number) => `/* ${'x'.repeat(letters)} */`;

test('statements stay prepared, until too many of them are', async () => {
  const connection = connect(join(folder, 'store.db'));
  const prepare = vi.spyOn(DatabaseSync.prototype, 'prepare');
  const preparedFor = async (text: string) => {
    const before = prepare.mock.calls.length;
    await sql.raw(text).execute(connection.db);
    return prepare.mock.calls.length - before;
  };
  try {
    expect(await preparedFor('SELECT 1 AS used')).toBe(1);
    for (let index = 0; index < 200; index += 1) {
      await preparedFor(`SELECT 1 AS c${index} ${padding(1_000)}`);
      expect(await preparedFor('SELECT 1 AS used')).toBe(0);
    }
    for (let index = 0; index < 200; index += 1) await preparedFor(`SELECT 1 AS d${index} ${padding(1_000)}`);
    expect(await preparedFor('SELECT 1 AS used')).toBe(1);
    const long = `SELECT 1 AS long ${padding(1_000_000)}`;
    expect(await preparedFor(long)).toBe(1);
    expect(await preparedFor('SELECT 1 AS used')).toBe(1);
  } finally {
    prepare.mockRestore();
    await connection.close();
  }
});

test('a statement that is kept prepared has the columns that its table has now', async () => {
  const { db, close } = connect(join(folder, 'columns.db'));
  const rows = async () => (await sql.raw('SELECT * FROM things').execute(db)).rows;
  try {
    await sql.raw('CREATE TABLE things (a, b)').execute(db);
    await sql.raw("INSERT INTO things VALUES (1, 'x'), (2, NULL)").execute(db);
    expect(await rows()).toEqual([
      { a: 1, b: 'x' },
      { a: 2, b: null },
    ]);
    await sql.raw('ALTER TABLE things ADD COLUMN c DEFAULT 3').execute(db);
    expect(await rows()).toEqual([
      { a: 1, b: 'x', c: 3 },
      { a: 2, b: null, c: 3 },
    ]);
    await sql.raw('ALTER TABLE things RENAME COLUMN a TO d').execute(db);
    await sql.raw('ALTER TABLE things DROP COLUMN b').execute(db);
    expect(await rows()).toEqual([
      { d: 1, c: 3 },
      { d: 2, c: 3 },
    ]);
  } finally {
    await close();
  }
});
