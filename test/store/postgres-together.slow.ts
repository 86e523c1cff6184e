// Processes that start at the same moment on a database that has to be set up: one does it, and the other waits for it.
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPostgres } from '../../src/store/postgres.ts';
import { TestPostgres } from '../support/postgres.ts';
import { until } from '../support/until.ts';

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await TestPostgres.start();
});
afterAll(() => postgres[Symbol.asyncDispose]());

test('one waits for another that sets it up, longer than any other statement may take', async () => {
  const place = await postgres.database();
  const { host, port, user, database } = place;
  const first = new pg.Client({ host, port, user, database });
  await first.connect();
  await first.query('BEGIN; SELECT pg_advisory_xact_lock(927336, 2)');
  const second = openPostgres(place, Date.now());
  const ended = second.then(
    () => 'opened',
    (error: Error) => error.message,
  );
  // A statement of the daemon is ended after 15 s, and given up after 20 s.
  const waiting = `SELECT FROM pg_stat_activity WHERE wait_event = 'advisory' AND query_start < now() - interval '21 s'`;
  await until('the second to have waited', async () => (await postgres.query(waiting)).length > 0);
  await first.query('COMMIT');
  expect(await ended).toBe('opened');
  await (await second).close();
  await first.end();
});
