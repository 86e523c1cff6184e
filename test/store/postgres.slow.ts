// The store on PostgreSQL: the contract, and what only a server can do: be shared, away, restarted, newer or somebody else's.

import pg from 'pg';
import { afterAll, describe, expect, test } from 'vitest';
import type { PostgresPlace } from '../../src/core/store-failure.ts';
import { Ledger } from '../../src/store/ledger.ts';
import { openPostgres } from '../../src/store/postgres.ts';
import { NewerStoreError, schemaVersion } from '../../src/store/schema/migrations.ts';
import { Store } from '../../src/store/store.ts';
import { systemClock } from '../../src/world/world.ts';
import { openShared } from '../support/lease.ts';
import { TestPostgres } from '../support/postgres.ts';
import { CuttingProxy } from '../support/postgres-proxy.ts';
import { until } from '../support/until.ts';
import { describeStore, openerOf } from './contract.ts';
import { actionOf, alertOf, noAlerts, now, transitionOf } from './records.ts';
import { describeBreakers, describeSharing } from './shared-contract.ts';

const postgres = await TestPostgres.start();
afterAll(() => postgres[Symbol.asyncDispose]());

/** A test on a new database. */
const it = (name: string, proof: (place: PostgresPlace) => Promise<void>) =>
  test(name, async () => proof(await postgres.database()));

const shortly = () => new Promise<void>((resolve) => void setTimeout(resolve, 20));
const open = (place: PostgresPlace) => Store.open(place, now);
const transitions = async (store: Store) => (await store.outbox.unnotifiedTransitions(100_000)).length;
const isWritten = (store: Store, id: string) =>
  store.recordAlerts(told(id)).then(
    () => true,
    () => false,
  );
const told = (id: string) => ({ ...noAlerts, transitions: [transitionOf(alertOf(id))] });

const openNew = openerOf(() => postgres.database());
describeStore('PostgreSQL', openNew);
describeSharing('PostgreSQL', openNew);
describeBreakers('PostgreSQL', openNew);

it('a second process is told who holds the database, and a reader is not kept out', async (place) => {
  const first = await open(place);
  await expect(open(place)).rejects.toThrow(`is in use by process ${process.pid}`);
  await first.recordAlerts(told('m1'));
  const ledger = await Ledger.at(place);
  await ledger.isEarlier();
  await ledger.close();
  await first.close();
  await (await open(place)).close();
});

it('a table that is gone or may not be seen is named, with what to do', async (place) => {
  const store = await open(place);
  const hidden = (name: string) => postgres.query(`ALTER SCHEMA ${name}`, place.database);
  await hidden('warmwarden RENAME TO away');
  await expect(store.recordAlerts(told('m1'))).rejects.toThrow(/does not exist\. A part of the store was deleted, or /);
  expect(store.trouble.newest?.remedy).toContain('a restart without one begins with an empty store');
  await hidden('away RENAME TO warmwarden');
  expect(store.trouble.isOver).toBe(false);
  await store.recordAlerts(told('m2'));
  expect(store.trouble.isOver).toBe(true);
  expect(await transitions(store)).toBe(1);
  await store.close();
});

/** Transitions that are recorded from now on fail with this code: at once, or with the COMMIT. */
const failWith = (place: PostgresPlace, code: string, when: 'at once' | 'with the COMMIT' = 'at once') =>
  postgres.query(
    `CREATE FUNCTION public.fail() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN RAISE 'tuple concurrently updated' USING ERRCODE = '${code}'; END $$;
     CREATE ${when === 'at once' ? '' : 'CONSTRAINT'} TRIGGER fail AFTER INSERT ON warmwarden.transitions
       ${when === 'at once' ? '' : 'DEFERRABLE INITIALLY DEFERRED'} FOR EACH ROW EXECUTE FUNCTION public.fail()`,
    place.database,
  );
const failNoLonger = (place: PostgresPlace) => postgres.query('DROP FUNCTION public.fail CASCADE', place.database);

test.each(['at once', 'with the COMMIT'] as const)(
  'an internal error of the server, %s, is no damage: it passes, and nobody restores a backup for it',
  async (when) => {
    const place = await postgres.database();
    const store = await openShared(place, 'first');
    await failWith(place, 'XX000', when);
    const remedy =
      'The log of the PostgreSQL server or of the pooler has the cause: wait a moment; Warmwarden then continues by itself.';
    await expect(store.recordAlerts(told('m1'))).rejects.toThrow(`reports: tuple concurrently updated. ${remedy}`);
    expect(store.trouble).toMatchObject({ newest: { remedy, lasting: false, mayPass: true }, isOver: false });
    await failNoLonger(place);
    await store.recordAlerts(told('m2'));
    expect([store.trouble.isOver, await transitions(store)]).toEqual([true, 1]);
    await store.close();
  },
);

test.each(['XX001', 'XX002'])('%s may be damage: a backup only if `store check` finds it, too', async (code) => {
  const place = await postgres.database();
  const store = await open(place);
  await failWith(place, code);
  await expect(store.recordAlerts(told('m1'))).rejects.toThrow('tuple concurrently updated');
  expect(store.trouble.newest).toMatchObject({
    lasting: true,
    remedy:
      'Data in the database seems damaged: run `warmwarden store check`. Only if it finds damage too, stop Warmwarden and restore a backup.',
  });
  await store.close();
});

it('a command that was away for long writes nothing once another has the store', async (place) => {
  const first = await open(place);
  await postgres.query('UPDATE warmwarden.lease SET beat_at = 0', place.database);
  const second = await open(place);
  await expect(first.recordAlerts(told('m1'))).rejects.toThrow('another process has taken the lease');
  await second.recordAlerts(told('m2'));
  expect(await transitions(second)).toBe(1);
  await Promise.all([first.close(), second.close()]);
});

describe('the lease', () => {
  const join = openShared;
  const note = (store: Store) => store.recordActions([actionOf('m1')]);

  it('two in one folder are refused with one sentence, until the first one ends', async (place) => {
    const first = await join(place, 'same');
    await expect(join(place, 'same')).rejects.toThrow(
      /^The folder \S+ is in use by another Warmwarden process: give each process on this machine a store.directory of its own\.$/,
    );
    await first.close();
    await (await join(place, 'same')).close();
  });

  it('one process is active, and a standby follows it within two seconds of its end', async (place) => {
    const first = await join(place, 'first');
    const seen: string[] = [];
    const second = join(place, 'second', { standingBy: (active) => void seen.push(active) });
    await until('the second to stand by', () => seen.length > 0);
    await note(first);
    await expect(open(place)).rejects.toThrow('is in use by first');
    expect([seen[0], first.lease.mayPost(), first.lease.isInherited]).toEqual(['first', true, false]);
    const endedAt = performance.now();
    await first.close();
    const active = await second;
    expect(performance.now() - endedAt).toBeLessThan(2_000);
    expect([active.lease.mayPost(), active.lease.isInherited]).toEqual([true, false]);
    await note(active);
    await active.close();
    await (await open(place)).close();
  });

  test('a standby takes the lease of a silent process, which writes nothing more and is told to end', async () => {
    await using proxy = await CuttingProxy.before(await postgres.database());
    const { database } = proxy.place;
    const lost: string[] = [];
    const first = await join(proxy.place, 'first', { lost: (why) => void lost.push(why) });
    proxy.close();
    const begunAt = performance.now();
    const second = await join({ ...(await postgres.place(proxy.place)), database }, 'second');
    expect(performance.now() - begunAt).toBeGreaterThan(12_000);
    expect(performance.now() - begunAt).toBeLessThan(20_000);
    expect([second.lease.isInherited, first.lease.mayPost()]).toEqual([true, false]);
    proxy.open();
    await until('the first to notice', () => lost.length > 0);
    await expect(note(first)).rejects.toThrow('another process has taken the lease');
    expect(lost).toEqual(['another process has taken the lease of this one']);
    await note(second);
    await Promise.all([first.close(), second.close()]);
  });

  test('a standby waits through an outage of PostgreSQL, and follows afterwards', async () => {
    const place = await postgres.database();
    await using proxy = await CuttingProxy.before(place);
    const first = await join(place, 'first');
    const seen: (Error | null)[] = [];
    const second = join(proxy.place, 'second', { standingBy: (_, failure) => void seen.push(failure) });
    await until('the second to stand by', () => seen.length > 0);
    proxy.close();
    await Promise.race([
      second,
      until('the second to fail twice', () => seen.filter((one) => one !== null).length > 1),
    ]);
    expect(seen.at(-1)?.message).toContain('Start PostgreSQL or repair the network');
    proxy.open();
    await first.close();
    const active = await second;
    await note(active);
    await active.close();
  });

  it('a write that PostgreSQL lost ends the process', async (place) => {
    const lost: string[] = [];
    const store = await join(place, 'first', { lost: (why) => void lost.push(why) });
    await note(store);
    await postgres.query('UPDATE warmwarden.fence SET version = 0', place.database);
    await expect(note(store)).rejects.toThrow('PostgreSQL lost what this process had stored last');
    expect(lost).toHaveLength(1);
    await store.close();
  });

  test('a process whose clock was set sends no POST until its next heartbeat', async () => {
    let aheadMs = 0;
    const clock = { ...systemClock(), now: () => Date.now() + aheadMs };
    const store = await join(await postgres.database(), 'first', { clock });
    aheadMs = 5_000;
    expect(store.lease.mayPost()).toBe(false);
    await note(store);
    await until('the next heartbeat', () => store.lease.mayPost());
    await store.close();
  });

  test('a process whose clock is wrong does not become active', async () => {
    const clock = { ...systemClock(), now: () => Date.now() - 45_000 };
    await expect(join(await postgres.database(), 'first', { clock })).rejects.toThrow(
      'The clock of this machine and the clock of the PostgreSQL server differ by more than 30 s',
    );
  });

  test('writers at the same time, through lost COMMIT replies, lose and double nothing', async () => {
    await using proxy = await CuttingProxy.before(await postgres.database());
    const store = await join(proxy.place, 'first');
    let written = 0;
    const write = async (id: string) => {
      if (await isWritten(store, id)) written += 1;
      else await shortly();
    };
    for (let round = 0; round < 20; round += 1) {
      proxy.cutNext(round % 2 === 0 ? 'after' : 'before');
      await Promise.all(['a', 'b', 'c'].map((id) => write(`${id}${round}`)));
    }
    expect(proxy.cuts).toBeGreaterThan(10);
    expect(await until('the store to answer', () => transitions(store).catch(() => null))).toBe(written);
    await store.close();
  });

  test('while nobody knows what became of a COMMIT, no other transaction hides it', async () => {
    await using proxy = await CuttingProxy.before(await postgres.database());
    const store = await join(proxy.place, 'first');
    proxy.cutNext('after');
    proxy.holdQuestions();
    const first = store.recordAlerts(told('m1'));
    await until('the question', () => proxy.questions > 0);
    const second = store.recordAlerts(told('m2'));
    proxy.answerQuestions();
    await Promise.all([first, second]);
    expect(await transitions(store)).toBe(2);
    await store.close();
  });

  it('one too many is refused at its start, with what to do', async (place) => {
    const user = `narrow_${place.database}`;
    await postgres.query(`CREATE ROLE ${user} LOGIN PASSWORD 'hush' CONNECTION LIMIT 1`);
    await postgres.query(`GRANT CREATE ON DATABASE ${place.database} TO ${user}`);
    await expect(join({ ...place, user, password: 'hush' }, 'second')).rejects.toThrow(
      /too many connections.*Raise max_connections, or the limit of the role .*: each Warmwarden process needs four/,
    );
  });
});

/** A store of a role that is no superuser, and so has limits. */
const owned = async () => {
  const place = await postgres.database();
  const user = `owner_${place.database}`;
  await postgres.query(`CREATE ROLE ${user} LOGIN`);
  await postgres.query(`GRANT CREATE ON DATABASE ${place.database} TO ${user}`);
  const alter = (how: string) => postgres.query(`ALTER ROLE ${user} ${how}`);
  return { place: { ...place, user }, alter };
};

test.each([
  ['because there are too many', 'CONNECTION LIMIT 0', 'CONNECTION LIMIT -1'],
  ['because the role may not log in', 'NOLOGIN', 'LOGIN'],
] as const)(
  'a server refuses connections %s, just after a COMMIT: it is known later what became of it',
  async (_, refuse, admit) => {
    const { place, alter } = await owned();
    await using proxy = await CuttingProxy.before(place);
    const store = await openShared(proxy.place, 'first');
    proxy.cutNext('after');
    proxy.holdQuestions();
    const writing = store.recordAlerts(told('m1'));
    await until('the question', () => proxy.questions > 0);
    await alter(refuse);
    proxy.cutAll();
    proxy.answerQuestions();
    // Meanwhile it is asked again, and refused.
    for (let round = 0; round < 10; round += 1) await expect(store.proveWritable(now)).rejects.toThrow(' reports: ');
    await alter(admit);
    await writing;
    expect(await transitions(store)).toBe(1);
    await store.close();
  },
);

test('connections that are cut without a word cost what was asked on them, and nothing of what is asked next', async () => {
  await using proxy = await CuttingProxy.before(await postgres.database());
  const store = await open(proxy.place);
  await store.recordAlerts(told('m1'));
  proxy.silence('all');
  const asked = await Promise.allSettled([store.ledgers(), store.recordAlerts(told('m2'))]);
  expect(asked.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(store.trouble.newest?.said).toContain('does not answer');
  await store.ledgers();
  await store.recordAlerts(told('m3'));
  expect([await transitions(store), store.trouble.isOver]).toEqual([2, true]);
  await store.close();
});

it('a read that waits for a lock leaves nothing behind on the server when it is given up', async (place) => {
  const store = await open(place);
  const end = await postgres.lockAll(place.database);
  await expect(store.ledgers()).rejects.toThrow();
  await until('nothing to wait on the server', async () => {
    const waiting = `SELECT FROM pg_stat_activity WHERE datname = '${place.database}' AND wait_event_type = 'Lock'`;
    return (await postgres.query(waiting)).length === 0;
  });
  await end();
  await store.ledgers();
  await store.close();
});

test('whatever a lost connection breaks says where, what, and what to do; recovery is seen by the next write', async () => {
  await using proxy = await CuttingProxy.before(await postgres.database());
  const store = await open(proxy.place);
  const asked = [
    () => store.recordAlerts(told('m1')),
    () => store.proveWritable(now),
    () => store.loadPicture(),
    () => store.ledgers(),
    () => store.outbox.unnotifiedTransitions(1),
  ];
  const said = (ask: () => Promise<unknown>) => ask().then(String, (error: Error) => error.message);
  const sentences = async () => Promise.all(asked.map(said));
  proxy.close();
  const byItself = 'Start PostgreSQL or repair the network; Warmwarden then continues by itself.';
  for (const sentence of [...(await sentences()), ...(await sentences())])
    expect(sentence).toMatch(new RegExp(`^PostgreSQL at 127\\.0\\.0\\.1:\\d+ does not answer: [^.]+\\. ${byItself}$`));
  proxy.open();
  expect(store.trouble).toMatchObject({ newest: { untilWritten: true }, isOver: false });
  await store.proveWritable(now);
  await store.ledgers();
  expect(store.trouble.isOver).toBe(true);
  await store.close();
});

test('once its writes reach another server after a failover, its reads do, too', async () => {
  await using primary = await TestPostgres.own();
  const place = await primary.database();
  await using standby = await primary.standby();
  await using proxy = await CuttingProxy.before(place);
  const store = await open(proxy.place);
  await standby.has("SELECT FROM pg_tables WHERE tablename = 'transitions'", place.database);
  await standby.promote();
  await primary.demote();
  await expect(store.proveWritable(now)).rejects.toThrow('read-only');
  await until('a read from what was the primary', () =>
    transitions(store).then(
      (count) => count === 0,
      () => false,
    ),
  );
  proxy.lead(standby.place(place));
  await until('a write to the new primary', () => isWritten(store, 'm1'));
  expect(await transitions(store)).toBeGreaterThan(0);
  await store.close();
});

test('twenty crashes of PostgreSQL under load lose no write that was answered, and double none', async () => {
  await using own = await TestPostgres.own();
  const place = await own.database();
  const store = await openShared(place, 'first');
  let [written, failed, over] = [0, 0, false];
  const writing = (async () => {
    while (!over) {
      const isDone = await isWritten(store, `m${written}`);
      if (isDone) written += 1;
      else failed += 1;
      if (!isDone) await shortly();
    }
  })();
  for (let crash = 0; crash < 20; crash += 1) {
    const before = written;
    await until('ten writes', () => written >= before + 10);
    await own.down('immediate');
    await own.up();
  }
  over = true;
  await writing;
  expect(failed).toBeGreaterThan(0);
  expect(await transitions(store)).toBe(written);
  await store.close();
});

it('a process that starts waits for another that sets the database up, longer than any other statement may take', async (place) => {
  const { host, port, user, database } = place;
  const first = new pg.Client({ host, port, user, database });
  await first.connect();
  await first.query('BEGIN; SELECT pg_advisory_xact_lock(927336, 2)');
  const second = openPostgres(place, Date.now());
  // A statement of the daemon is ended after 15 s, and given up after 20 s.
  const waiting = `SELECT FROM pg_stat_activity WHERE wait_event = 'advisory' AND query_start < now() - interval '21 s'`;
  await until('the second to have waited', async () => (await postgres.query(waiting)).length > 0);
  await first.query('COMMIT');
  await (await second).close();
  await first.end();
});

describe('what is no store', () => {
  const refusal = (place: PostgresPlace) =>
    open(place).then(
      () => null,
      (error: Error) => error,
    );

  test.each([
    ['a port where nothing listens', { port: 1 }, /does not answer.*ECONNREFUSED.*Start PostgreSQL/],
    ['a database that does not exist', { database: 'nowhere' }, /"nowhere" does not exist.*CREATE DATABASE nowhere/],
    ['a server without encryption', { tls: { kind: 'verify', ca: null } as const }, /SSL.*store\.tls to "off"/],
  ])('%s: one sentence says so, with what to do', async (_name, changes, said) => {
    const place = { ...(await postgres.database()), ...changes };
    const refused = await refusal(place);
    expect(refused).toMatchObject({ name: 'StoreError' });
    expect(refused?.message).toMatch(said);
    expect(refused?.message).toContain(`/${place.database}`);
    expect(refused?.message).not.toContain('\n');
  });

  it('a role that may not create the schema is told which right it lacks', async (place) => {
    await postgres.query(`DROP ROLE IF EXISTS poor_${place.database}`);
    await postgres.query(`CREATE ROLE poor_${place.database} LOGIN PASSWORD 'hush'`);
    const user = `poor_${place.database}`;
    const refused = await refusal({ ...place, user, password: 'hush' });
    expect(refused?.message).toMatch(/permission denied.*GRANT CREATE ON DATABASE/);
    expect(refused?.message).not.toContain('hush');
    await postgres.query(`DROP ROLE ${user}`);
  });

  it('a schema of another program is left as it is', async (place) => {
    await postgres.query('CREATE SCHEMA warmwarden; CREATE TABLE warmwarden.orders (id int)', place.database);
    expect((await refusal(place))?.message).toContain('belongs to another program, with a table orders');
  });

  it('a newer schema is refused unless it says that this version may use it', async (place) => {
    await (await open(place)).close();
    const set = (key: string, value: number) =>
      postgres.query(`UPDATE warmwarden.meta SET value = '${value}' WHERE key = '${key}'`, place.database);
    await set('schema_version', schemaVersion + 1);
    const store = await open(place);
    await store.recordAlerts(told('m1'));
    await store.close();
    await set('oldest_compatible', schemaVersion + 1);
    expect(await refusal(place)).toBeInstanceOf(NewerStoreError);
  });
});

it('a column of whole numbers takes a fraction of a millisecond rounded', async (place) => {
  const store = await open(place);
  const sent = { id: 'a', channel: 'ops', group: 'g', payload: '{}', title: 'a', alerts: [] };
  await store.outbox.recordDeliveries({ transitionIds: [], deliveries: [sent], now: now + 0.4 });
  const [row] = await postgres.query('SELECT created_at FROM warmwarden.deliveries', place.database);
  expect(Number(row?.['created_at'])).toBe(now);
  await store.close();
});
