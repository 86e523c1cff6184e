// Replicas that start at the same moment on a database that has to be set up: one does it, and the others wait for it. One that
// upgrades it leaves nothing behind.
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPostgres } from '../../src/store/postgres.ts';
import { schemaVersion } from '../../src/store/schema/migrations.ts';
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

test('one that waited alters nothing: it needs no lock on the tables that the others already use', async () => {
  const place = await postgres.database();
  await (await openPostgres(place, Date.now())).close();
  const clientOf = async () => {
    const { host, port, user, database } = place;
    const client = new pg.Client({ host, port, user, database, options: '-c search_path=warmwarden' });
    await client.connect();
    return client;
  };
  const version = (value: number) => `UPDATE meta SET value = '${value}' WHERE key = 'schema_version'`;
  const [first, user] = [await clientOf(), await clientOf()];
  await first.query(version(0));
  await first.query('BEGIN; SELECT pg_advisory_xact_lock(927336, 2)');
  const second = openPostgres(place, Date.now());
  await until('the second to wait for the first', async () => {
    const waiting = await postgres.query("SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted");
    return waiting.length > 0;
  });
  await first.query(version(schemaVersion));
  await user.query('BEGIN; SELECT count(*) FROM replicas');
  await first.query('COMMIT');
  const opened = await second;
  expect(opened.locksRows).toBe(true);
  await user.query('COMMIT');
  await opened.close();
  await Promise.all([first.end(), user.end()]);
});
