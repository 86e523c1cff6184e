// What was the primary before a failover runs again, and takes writes: a process that has met the new primary refuses it.
import { existsSync, rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { PostgresPlace } from '../../src/core/store-failure.ts';
import { examinePostgres } from '../../src/store/postgres/examination.ts';
import { Store } from '../../src/store/store.ts';
import { systemClock } from '../../src/world/world.ts';
import { leaseOf } from '../support/lease.ts';
import { TestPostgres } from '../support/postgres.ts';
import { CuttingProxy } from '../support/postgres-proxy.ts';
import { until } from '../support/until.ts';
import { alertOf, noAlerts, now, transitionOf } from './records.ts';

const shortly = () => new Promise<void>((resolve) => void setTimeout(resolve, 20));
const open = (place: PostgresPlace) => Store.open(place, now, { lease: leaseOf('one') });
const alert = (id: string) => ({ ...noAlerts, transitions: [transitionOf(alertOf(id))] });

const isOld =
  /^PostgreSQL at 127\.0\.0\.1:\d+ was the primary before a failover: its timeline is 1, and Warmwarden has already used timeline 2 of the same database cluster$/;
const isRefused =
  /^The store postgres:\S+ can't be used: PostgreSQL at \S+ was the primary before a failover: its timeline is 1, .* leads to the new primary, and try again\. If you restored .* delete \S+\.timeline on the machine of each\.$/;

/** A primary and its standby, with a store that a role without any special right owns, and the way to one of both. */
async function pair() {
  const primary = await TestPostgres.own();
  const standby = await primary.standby();
  const made = await primary.database();
  await primary.query(`CREATE ROLE plain LOGIN; GRANT CREATE ON DATABASE ${made.database} TO plain`);
  const place = { ...made, user: 'plain' };
  const proxy = await CuttingProxy.before(place);
  const lead = (to: TestPostgres) => {
    proxy.lead({ ...to.place(place), user: 'plain' });
    proxy.cutAll();
  };
  const written = (at: TestPostgres) => at.query('SELECT FROM warmwarden.transitions', place.database);
  return {
    ...{ primary, standby, place, proxy, lead, written },
    failOver: async () => {
      await standby.has("SELECT FROM pg_tables WHERE tablename = 'transitions'", place.database);
      await standby.promote();
      lead(standby);
    },
    [Symbol.asyncDispose]: async () => {
      await proxy[Symbol.asyncDispose]();
      await standby[Symbol.asyncDispose]();
      await primary[Symbol.asyncDispose]();
    },
  };
}

/** Whatever the lost connections broke has been noticed. */
const recovered = (store: Store, id: string) =>
  until('a write to succeed', () =>
    store.recordAlerts(alert(id)).then(
      () => true,
      () => shortly().then(() => false),
    ),
  );

test('an old primary that runs again is an outage: nothing is read or written there, and the new primary ends it', async () => {
  await using servers = await pair();
  const { primary, standby, lead, written } = servers;
  const store = await open(servers.proxy.place);
  await servers.failOver();
  await recovered(store, 'm1');
  const before = await written(standby);
  lead(primary);
  await shortly();
  for (let again = 0; again < 3; again += 1) {
    await expect(store.recordAlerts(alert('m2'))).rejects.toThrow(isOld);
    await expect(store.outbox.unnotifiedTransitions(1)).rejects.toThrow(isOld);
    await expect(store.proveWritable(now)).rejects.toThrow(isOld);
  }
  expect(store.trouble).toMatchObject({
    isOver: false,
    newest: {
      said: expect.stringMatching(isOld),
      remedy: expect.stringContaining('continues by itself'),
      untilWritten: true,
    },
  });
  // Its lease is not prolonged there either.
  await until('a heartbeat to be refused', () => store.lease.overdue !== null, 30_000);
  expect(await primary.query('SELECT FROM warmwarden.lease WHERE beat > 20', servers.place.database)).toEqual([]);
  expect(await written(primary)).toEqual([]);

  lead(standby);
  await recovered(store, 'm3');
  await store.ledgers();
  expect((await written(standby)).length).toBe(before.length + 1);
  await store.close();
});

test('a restart does not forget it, and doctor says it; deleting the file does', async () => {
  await using servers = await pair();
  const { primary, standby, proxy, lead } = servers;
  await (await open(proxy.place)).close();
  await servers.failOver();
  await (await open(proxy.place)).close();
  lead(primary);
  await expect(open(proxy.place)).rejects.toThrow(isRefused);
  await expect(examinePostgres(proxy.place, systemClock())).rejects.toThrow(isRefused);
  // A command, too: a write stop that is set there stops nobody.
  await expect(Store.open(proxy.place, now)).rejects.toThrow(isRefused);
  lead(standby);
  await (await open(proxy.place)).close();
  lead(primary);
  const file = `${proxy.place.path}.timeline`;
  expect(existsSync(file)).toBe(true);
  rmSync(file);
  await (await open(proxy.place)).close();
});

test('a connection that is still open to the old primary is not used once the other one has met the new primary', async () => {
  await using servers = await pair();
  const { primary, standby, proxy, written } = servers;
  const store = await open(proxy.place);
  await store.recordAlerts(alert('m1'));
  await standby.has('SELECT FROM warmwarden.transitions', servers.place.database);
  await standby.promote();
  proxy.lead({ ...standby.place(servers.place), user: 'plain' });
  // The connection for heartbeats was opened first.
  await primary.query(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'plain' ORDER BY backend_start LIMIT 1",
  );
  // A heartbeat on the new primary.
  await standby.has("SELECT FROM pg_stat_activity WHERE usename = 'plain' AND query = 'commit'");
  await store.recordAlerts(alert('m2'));
  expect([(await written(primary)).length, (await written(standby)).length]).toEqual([1, 2]);
  expect(store.trouble.failures).toBeLessThan(3);
  await store.close();
});
