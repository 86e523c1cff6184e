// After a failover of PostgreSQL, what was the primary runs again, and the address of the active process leads there. It does nothing
// and says so; the standby takes its place, and acts once.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Crew, type Slot } from '../support/crew.ts';
import { week } from '../support/other-api.ts';
import { TestPostgres } from '../support/postgres.ts';
import { until } from '../support/until.ts';

const lookEveryMs = 250;

test('an active process whose address leads to the old primary again is red, and no breach is acted upon twice', async () => {
  await using primary = await TestPostgres.own();
  await using standby = await primary.standby();
  await using crew = await Crew.start(primary, 2, ['a', 'b', 'c']);
  /** 0: a standby that becomes active, or a process that ends, cuts the connection. */
  const status = async ({ daemon }: Slot) => {
    const url = await daemon.onDuty();
    return fetch(`${url}/readyz`).then(
      (answer) => answer.status,
      () => 0,
    );
  };
  await until('the standby to have all', async () => {
    await sleep(lookEveryMs);
    const [row] = await primary.query(
      'SELECT pg_wal_lsn_diff(sent_lsn, replay_lsn)::int AS behind FROM pg_stat_replication',
    );
    return row?.behind === 0;
  });

  await standby.promote();
  crew.lead(standby);
  for (const { proxy } of crew.slots) proxy.cutAll();
  await crew.untilActive();
  const { active: second, standby: first } = await crew.both();
  await until('it to be ready', async () => (await status(second)) === 200);

  // The old primary never stopped.
  second.proxy.lead(primary.place(second.proxy.place));
  second.proxy.cutAll();
  await until('the one that is sent there to be red', async () => (await status(second)) === 503);
  const { daemon } = second;
  await until('it to say why', () => daemon.output.includes('was the primary before a failover'));
  await until('the standby to take its place', async () => (await crew.untilActive()) === first);
  const breaches = ['a', 'b', 'c'].map(
    (account) => [account, crew.api(account).add(`breach@${account}.example`, { days: week(40, 4) })] as const,
  );
  for (const [account, mailbox] of breaches) await crew.untilActed(account, mailbox);
  // Long enough for a takeover on the other server.
  await sleep(25_000);
  expect(await status(second)).toBe(503);
  expect(await status(first)).toBe(200);
  for (const [account, mailbox] of breaches) expect(crew.acted(account, mailbox)).toEqual({ posts: 1, told: 1 });
  expect(await primary.query('SELECT FROM warmwarden.actions', crew.database)).toEqual([]);

  crew.lead(standby);
  second.proxy.cutAll();
  expect(await daemon.ended).toEqual({ code: 1, signal: null });
  for (const [account, mailbox] of breaches) expect(crew.acted(account, mailbox)).toEqual({ posts: 1, told: 1 });
});
