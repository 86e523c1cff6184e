// The floor of a store on PostgreSQL: rows of the size of a poll's, written by the driver in one statement every half second.
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { PostgresPlace } from '../../../src/core/store-failure.ts';

const groups = 20;
const groupMs = 500;
/** A thousand polls a second. */
const rowsOfGroup = 500;
const rowBytes = 2_000;

/** CPU time of this process for a row, milliseconds. */
export async function groupCommitCpuMs({ host, port, user, database }: PostgresPlace): Promise<number> {
  const client = new pg.Client({ host, port, user, database });
  await client.connect();
  try {
    await client.query('CREATE TABLE rows (id int PRIMARY KEY, answer text NOT NULL)');
    const before = process.cpuUsage();
    for (let group = 0; group < groups; group += 1) {
      const ids = Array.from({ length: rowsOfGroup }, (_, index) => index);
      const answers = ids.map((id) => `${group} ${id} `.padEnd(rowBytes, 'x'));
      await client.query('BEGIN');
      await client.query(
        `INSERT INTO rows SELECT * FROM unnest($1::int[], $2::text[])
          ON CONFLICT (id) DO UPDATE SET answer = excluded.answer`,
        [ids, answers],
      );
      await client.query('COMMIT');
      await sleep(groupMs);
    }
    const { user: own, system } = process.cpuUsage(before);
    return (own + system) / 1_000 / (groups * rowsOfGroup);
  } finally {
    await client.end();
  }
}
