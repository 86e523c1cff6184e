// Processes behind a connection pooler that hands each transaction to any connection: PgBouncer, where it is installed, always in CI.
import { expect, test } from 'vitest';
import { Ledger } from '../../src/store/ledger.ts';
import { openShared } from '../support/lease.ts';
import { isPoolerInstalled, Pooler } from '../support/poolers.ts';
import { TestPostgres } from '../support/postgres.ts';
import { actionOf } from './records.ts';

const isSkipped = !isPoolerInstalled && process.env['CI'] === undefined;

test.skipIf(isSkipped).each([
  ['that refuses settings of a connection', ''],
  ['that ignores settings of a connection', 'ignore_startup_parameters = options'],
])('behind a PgBouncer %s: the search path is asked for, and then a standby follows', async (_name, settings) => {
  await using postgres = await TestPostgres.own();
  const direct = await postgres.database();
  {
    await using pooler = await Pooler.before(direct, settings);
    await expect(openShared(pooler.place, 'first')).rejects.toThrow(
      `Run ALTER ROLE warden IN DATABASE ${direct.database} SET search_path = warmwarden`,
    );
  }
  await postgres.query(`ALTER ROLE warden IN DATABASE ${direct.database} SET search_path = warmwarden`);
  await using pooler = await Pooler.before(direct, settings);
  const first = await openShared(pooler.place, 'first');
  await first.recordActions([actionOf('m1')]);
  const waiting = openShared(pooler.place, 'second');
  await first.close();
  const second = await waiting;
  await expect(first.recordActions([actionOf('m1')])).rejects.toThrow();
  await second.recordActions([actionOf('m1', { state: 'confirmed' })]);
  const ledger = await Ledger.at(pooler.place);
  await ledger.isEarlier();
  await ledger.close();
  await second.close();
});
