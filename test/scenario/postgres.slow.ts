// A daemon whose store is in PostgreSQL, and a second one that stands by. A database in trouble: postgres-troubles.slow.ts, crew-rounds.slow.ts.
import { afterAll, expect, test } from 'vitest';
import { Crew, storePassword } from '../support/crew.ts';
import { type OtherMailbox, week } from '../support/other-api.ts';
import { TestPostgres } from '../support/postgres.ts';
import { until } from '../support/until.ts';

const postgres = await TestPostgres.own();
afterAll(() => postgres[Symbol.asyncDispose]());

const account = 'fleet';

test('a second daemon stands by, and goes on when the first one ends, in good order or by kill -9', async () => {
  await using crew = await Crew.start(postgres, 2, [account]);
  const api = crew.api(account);
  const [one, two] = ['one', 'two'].map((name) => api.add(`${name}@fleet.example`));
  if (!one || !two) throw new Error('two mailboxes');
  const reads = (mailbox: OtherMailbox) => api.reads('/v1/stats', mailbox).length;
  const actedOnce = async (mailbox: OtherMailbox) => {
    await crew.untilActed(account, mailbox);
    const before = reads(mailbox);
    await until('two more readings', () => reads(mailbox) >= before + 2);
    expect(crew.acted(account, mailbox)).toEqual({ posts: 1, told: 1 });
  };
  await until('the fleet to be known', () => reads(one) >= 3 && reads(two) >= 3);
  const { active, standby } = await crew.both();
  const [first, second] = [active.daemon, standby.daemon];
  await second.said('standing by');
  const standsBy = `This process stands by: process ${first.pid} on`;
  expect((await crew.command(standby, 'status')).said).toContain(standsBy);
  const pause = await crew.command(standby, 'pause', one.email, '--yes', '--reason', 'a test');
  expect(pause.said).toContain(standsBy);
  first.kill('SIGTERM');
  expect((await first.ended).code).toBe(0);
  const endedAt = performance.now();
  await second.said('this process is the active one');
  expect(performance.now() - endedAt).toBeLessThan(2_000);
  await second.onDuty();
  // On the machine of the one that ended no daemon answers, and yet all is guarded.
  expect((await crew.command(active, 'status')).said).toContain(
    'No daemon answers on this machine: unless one runs on another, nothing is guarded.',
  );
  one.days = week(40, 4);
  await actedOnce(one);

  crew.restart(active);
  await active.daemon.said('standing by');
  second.kill('SIGKILL');
  two.days = week(40, 4);
  await actedOnce(two);
  expect(first.output + second.output + active.daemon.output).not.toContain(storePassword);
});
