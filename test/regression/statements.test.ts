// Statements are kept prepared, also while the columns of their table change.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, expect, test } from 'vitest';
import { connect } from '../../src/store/file/connection.ts';

const folder = mkdtempSync(join(tmpdir(), 'warmwarden-statements-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

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
