// Pgpool-II before a primary and a standby that applies nothing of the store: refused while it sends reads to the standby.
import { expect, test } from 'vitest';
import type { PostgresPlace } from '../../src/core/store-failure.ts';
import { Ledger } from '../../src/store/ledger.ts';
import { examinePostgres } from '../../src/store/postgres/examination.ts';
import { systemClock } from '../../src/world/world.ts';
import { openShared } from '../support/lease.ts';
import { isPgpoolInstalled, Pooler } from '../support/poolers.ts';
import { TestPostgres } from '../support/postgres.ts';
import { actionOf } from './records.ts';

const refusal = 'Pgpool-II answers there and sends reads to standbys, which lag. Set load_balance_mode = off';

test('Pgpool-II is refused by start and doctor, and then reads find what was written', async ({ skip }) => {
  skip(
    !isPgpoolInstalled && process.env['CI'] === undefined,
    'Pgpool-II is not installed: .ci/debian /usr/sbin/pgpool=pgpool2',
  );
  await using primary = await TestPostgres.own();
  await using standby = await primary.standby();
  const direct = await primary.database();
  await primary.query(`ALTER ROLE warden IN DATABASE ${direct.database} SET search_path = warmwarden`);
  await standby.has(`SELECT FROM pg_database WHERE datname = '${direct.database}'`);
  await standby.query("ALTER SYSTEM SET recovery_min_apply_delay = '1h'");
  await standby.query('SELECT pg_reload_conf()');
  const before = (settings: string) => Pooler.pgpool(direct, standby.place(direct), settings);
  const doctor = (place: PostgresPlace) => examinePostgres(place, systemClock());

  for (const settings of ['', "disable_load_balance_on_write = 'always'"]) {
    await using balancing = await before(settings);
    await expect(openShared(balancing.place, 'first')).rejects.toThrow(refusal);
    await expect(doctor(balancing.place)).rejects.toThrow(refusal);
  }

  await using plain = await before('load_balance_mode = off');
  const store = await openShared(plain.place, 'first');
  await store.recordActions([actionOf('m1')]);
  expect(await doctor(plain.place)).toMatchObject({ state: 'ready', content: { active: { name: 'first' } } });
  const reader = await Ledger.at(plain.place);
  expect(await reader.isEarlier()).toBe(false);
  await reader.close();
  await store.close();
});
