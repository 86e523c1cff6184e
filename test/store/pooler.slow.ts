// Replicas behind a connection pooler that hands each transaction to any connection: PgBouncer, where it is installed, always in CI.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PostgresPlace } from '../../src/core/store-failure.ts';
import { Ledger } from '../../src/store/ledger.ts';
import { Store } from '../../src/store/store.ts';
import { logTo, systemClock } from '../../src/world/world.ts';
import { isPoolerInstalled, Pooler } from '../support/pooler.ts';
import { TestPostgres } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { actionOf, now } from './records.ts';

const clock = systemClock();
const log = logTo(() => {}, { level: 'info', format: 'json' }, clock);
const join = (place: PostgresPlace, name: string) =>
  Store.open({ ...place, path: `${place.path}-${name}` }, now, undefined, {
    replica: { clock, log, name, version: '1.0.0' },
  });
const follower = { taken: async () => {}, release: async () => {}, abandon: async () => {}, lost: async () => {} };

describe.skipIf(!isPoolerInstalled && process.env['CI'] === undefined)('behind PgBouncer', () => {
  let postgres: TestPostgres;
  beforeAll(async () => {
    postgres = await TestPostgres.own();
  });
  afterAll(() => postgres[Symbol.asyncDispose]());

  test.each([
    ['that refuses settings of a connection', ''],
    ['that ignores settings of a connection', 'ignore_startup_parameters = options'],
  ])('one %s: the search path is asked for, and then replicas hand work over', async (_name, settings) => {
    const direct = await postgres.database();
    {
      await using pooler = await Pooler.before(direct, settings);
      await expect(join(pooler.place, 'first')).rejects.toThrow(
        `Run ALTER ROLE warden IN DATABASE ${direct.database} SET search_path = warmwarden`,
      );
    }
    await postgres.query(`ALTER ROLE warden IN DATABASE ${direct.database} SET search_path = warmwarden`);
    await postgres.query(`ALTER ROLE warden IN DATABASE ${direct.database} SET statement_timeout = '19s'`);
    await using pooler = await Pooler.before(direct, settings);
    const [first, second] = [await join(pooler.place, 'first'), await join(pooler.place, 'second')];
    expect(first.warnings.join()).toContain('A connection pooler is in front of PostgreSQL');
    expect(first.warnings.join()).toContain('PostgreSQL has statement_timeout = 19000 ms for the role warden.');
    for (const { membership } of [first, second]) {
      membership.follow(follower);
      await membership.want(['account:acme']);
    }
    await until('the first to have the account', () => first.membership.holds('account:acme'));
    await first.recordActions([actionOf('m1')]);
    await expect(second.recordActions([actionOf('m1')])).rejects.toThrow('another replica took over');
    await first.membership.stop();
    await until('the second to have the account', () => second.membership.holds('account:acme'));
    await second.recordActions([actionOf('m1', { state: 'confirmed' })]);
    const ledger = await Ledger.at(pooler.place);
    await ledger.check();
    await ledger.close();
    await second.membership.stop();
    await Promise.all([first.close(), second.close()]);
  });
});
