// Replicas that start at the same moment on a database that has to be set up: one does it, and the others wait for it. One that
// upgrades it leaves nothing behind.
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { closedBreaker } from '../../src/model/breaker.ts';
import { openPostgres } from '../../src/store/postgres.ts';
import { schemaVersion } from '../../src/store/schema/migrations.ts';
import { Store } from '../../src/store/store.ts';
import { TestPostgres } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { afterJudging, moveOf } from './breaker-contract.ts';

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
  await first.query(version(20));
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

test('what an earlier version wrote of a breaker as one text becomes rows, and that version can write no such text any more', async () => {
  const place = await postgres.database();
  const first = await Store.open(place, Date.now());
  const judged = ['m3', 'm1', 'm2'].reduce((state, id) => afterJudging(state, id), closedBreaker);
  const { record, after } = moveOf(closedBreaker, () => judged);
  await first.recordRelease(record);
  await first.close();
  const sql = (text: string) => postgres.query(`SET search_path = warmwarden; ${text}`, place.database);
  const write = `UPDATE breakers SET state = '${JSON.stringify(after)}'`;
  await sql(`DROP TABLE breaker_entries; ALTER TABLE breakers DROP digest, DROP places; ALTER TABLE breakers RENAME head TO state;
    UPDATE meta SET value = '23' WHERE key = 'schema_version'; UPDATE meta SET value = '20' WHERE key = 'oldest_compatible'; ${write}`);
  const upgraded = await Store.open(place, Date.now());
  const [stored] = await upgraded.shared.breakers();
  expect(stored?.state).toEqual(after);
  const next = moveOf(stored?.state ?? closedBreaker, (state) => afterJudging(state, 'm1'));
  await upgraded.recordRelease(next.record);
  expect([next.again, (await upgraded.shared.breakers())[0]?.state]).toEqual([[], next.after]);
  await expect(sql(write)).rejects.toThrow('column "state"');
  await upgraded.close();
});
