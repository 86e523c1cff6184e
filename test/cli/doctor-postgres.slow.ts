import { afterAll, expect, test } from 'vitest';
import { shapes } from '../../src/cli/shapes/shapes.ts';
import type { PostgresPlace } from '../../src/core/store-failure.ts';
import { openPostgres } from '../../src/store/postgres.ts';
import { commandLine } from '../support/command-line.ts';
import { openShared } from '../support/lease.ts';
import { isPoolerInstalled, Pooler } from '../support/poolers.ts';
import { TestPostgres } from '../support/postgres.ts';
import { Workplace } from '../support/process.ts';

const password = 'hush-of-postgres';

const postgres = await TestPostgres.own();
afterAll(() => postgres[Symbol.asyncDispose]());

const fresh = () => postgres.database();

/** One that the first start has made. */
async function made(): Promise<PostgresPlace> {
  const place = await fresh();
  await (await openPostgres(place, Date.now())).close();
  return place;
}

let roles = 0;
/** A new role that may only log in. */
async function roleAt(place: PostgresPlace): Promise<PostgresPlace> {
  roles += 1;
  const user = `role_${roles}`;
  await postgres.query(`CREATE ROLE ${user} LOGIN`);
  return { ...place, user };
}

/** The report of a configuration with this store: exit code, and what is said of some parts as `result: message`. */
async function examined(
  { user, host, port, database }: PostgresPlace,
  accounts: readonly string[] = ['acme'],
  prepare: (workplace: Workplace) => void = () => {},
) {
  using workplace = new Workplace();
  prepare(workplace);
  const config = workplace.configure({
    accounts: accounts.map((name) => ({ name, base_url: 'http://127.0.0.1:1', api_key: `sk_live_${name}_x` })),
    store: { url: `postgres://${user}@${host}:${port}/${database}`, tls: 'off', password },
  });
  const { code, stdout, stderr } = await commandLine(['doctor', '--config', config, '--json']);
  expect(stderr).toBe('');
  expect(stdout).not.toContain(password);
  const { checks } = shapes.doctor.parse(JSON.parse(stdout));
  const of = (part: string) =>
    checks.filter((check) => check.part === part).map(({ result, message }) => `${result}: ${message}`);
  return { code, store: of('store'), clocks: of('clock').slice(-1), daemon: of('daemon'), files: of('permissions') };
}

const usable = expect.stringMatching(
  /^ok: PostgreSQL answers at postgres:\S+ \(version \d.*\), and the store in it can be used\.$/,
);
const idle = expect.stringMatching(/^warning: No daemon runs on this store: nothing is guarded\./);

const unknown = 'skipped: No daemon answers on this machine; whether one runs elsewhere is not known.';

test('a store that can be used, and one that the first start will make', async () => {
  expect(await examined(await made())).toMatchObject({
    store: [usable],
    clocks: ['ok: The clock of this machine agrees with the PostgreSQL server.'],
    daemon: [idle],
  });
  expect(await examined(await fresh())).toMatchObject({
    store: [expect.stringMatching(/^ok: .*\. It has no store yet: the first start creates it\.$/)],
    daemon: [idle],
  });
});

test('what the role may not do is said with the statement that allows it, and nothing is said once it was run', async () => {
  const empty = await roleAt(await fresh());
  const { user, database } = empty;
  const create = `GRANT CREATE ON DATABASE ${database} TO ${user};`;
  expect((await examined(empty)).store).toEqual([expect.stringMatching(/^problem: .*permission denied for database/)]);
  expect((await examined(empty)).store[0]).toContain(create);
  await postgres.query(create);
  expect((await examined(empty)).store).toEqual([expect.stringContaining('the first start creates it')]);

  const full = await roleAt(await made());
  for (const statement of [
    `GRANT USAGE ON SCHEMA warmwarden TO ${full.user};`,
    `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA warmwarden TO ${full.user};`,
  ]) {
    const { code, store, daemon } = await examined(full);
    expect([code, store[0], daemon]).toEqual([
      1,
      expect.stringMatching(/^problem: .*ive the role its rights: GRANT/),
      [unknown],
    ]);
    expect(store[0]).toContain(statement);
    await postgres.query(statement, full.database);
  }
  expect((await examined(full)).store).toEqual([usable]);
});

test('settings that would hurt, each with what to do', async () => {
  const place = await roleAt(await made());
  const { user, database } = place;
  await postgres.query(`ALTER SCHEMA warmwarden OWNER TO ${user}`, database);
  await postgres.query(`GRANT ALL ON ALL TABLES IN SCHEMA warmwarden TO ${user}`, database);
  const set = (setting: string, value: string) => postgres.query(`ALTER ROLE ${user} SET ${setting} = ${value}`);
  await set('synchronous_commit', 'off');
  expect((await examined(place)).store).toEqual([usable, expect.stringContaining('synchronous_commit = off')]);
  await set('default_transaction_read_only', 'on');
  expect((await examined(place)).store).toEqual([
    expect.stringMatching(/^problem: .*: default_transaction_read_only is on/),
  ]);
});

test('a standby is refused, and its primary replicates asynchronously', async () => {
  await using primary = await TestPostgres.own();
  await using standby = await primary.standby();
  const place = await primary.database();
  expect((await examined(place)).store.at(-1)).toMatch(/^warning: PostgreSQL replicates asynchronously: /);
  await standby.has(`SELECT FROM pg_database WHERE datname = '${place.database}'`);
  expect(await examined(standby.place(place))).toMatchObject({
    code: 1,
    store: [expect.stringMatching(/^problem: .* can't be used: it is a standby, which is read-only\./)],
    daemon: [unknown],
  });
});

const pooled = test.skipIf(!isPoolerInstalled && process.env['CI'] === undefined);

pooled('behind PgBouncer, the search path is asked for, and then the store can be used', async () => {
  const direct = await made();
  await using pooler = await Pooler.before(direct);
  const { code, store } = await examined(pooler.place);
  const [statement = ''] = /ALTER ROLE [^;]*/.exec(store[0] ?? '') ?? [];
  expect([code, statement]).toEqual([1, expect.stringContaining('SET search_path = warmwarden')]);
  await postgres.query(statement);
  await using next = await Pooler.before(direct);
  expect((await examined(next.place)).store).toEqual([usable]);
});

test('which process is active elsewhere, and a fleet that is another', async () => {
  const place = await made();
  const store = await openShared(place, 'process-a');
  expect((await examined(place)).daemon).toEqual([
    'ok: No daemon of this configuration answers on this machine: process-a is active (version 1.0.0).',
  ]);
  await store.close();
  await postgres.query(
    "INSERT INTO warmwarden.mailboxes (account, mailbox_id, email, first_seen_at, missing_lists) VALUES ('acme', 'm', 'm@a.example', 1, 0)",
    place.database,
  );
  expect((await examined(place, ['zeta'])).store).toContainEqual(
    expect.stringMatching(/^warning: The store has none of the accounts of this configuration, but others: acme\./),
  );
});
