// A daemon whose store is in PostgreSQL, and a second one that stands by. A database in trouble: postgres-troubles.slow.ts, crew-rounds.slow.ts.
import { readFileSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import { Stage } from '../support/guarded.ts';
import { type OtherMailbox, week } from '../support/other-api.ts';
import { TestPostgres } from '../support/postgres.ts';
import { Running, runDaemon, Workplace } from '../support/process.ts';
import { until } from '../support/until.ts';

const postgres = await TestPostgres.own();
afterAll(() => postgres[Symbol.asyncDispose]());

const password = 'hush-of-postgres';

test('a second daemon stands by, and goes on when the first one ends, in good order or by kill -9', async () => {
  const { host, port, user, database } = await postgres.database();
  await using stage = await Stage.open({
    file: { store: { url: `postgres://${user}@${host}:${port}/${database}`, password, tls: 'off' } },
  });
  const [one, two] = ['one', 'two'].map((name) => stage.api.add(`${name}@fleet.example`));
  if (!one || !two) throw new Error('two mailboxes');
  const reads = (mailbox: OtherMailbox) => stage.api.reads('/v1/stats', mailbox).length;
  const acted = (mailbox: OtherMailbox) => ({
    posts: stage.api.posts(mailbox).length,
    told: stage.receiver.alerts().filter((alert) => alert.rule === 'guard_acted' && alert.mailbox === mailbox.email)
      .length,
  });
  const actedOnce = async (mailbox: OtherMailbox) => {
    await until('it to be acted upon and told', () => acted(mailbox).posts > 0 && acted(mailbox).told > 0);
    const before = reads(mailbox);
    await until('two more readings', () => reads(mailbox) >= before + 2);
    expect(acted(mailbox)).toEqual({ posts: 1, told: 1 });
  };
  const first = stage.start();
  await until('the fleet to be known', () => reads(one) >= 3 && reads(two) >= 3);
  using workplace = new Workplace();
  const standby = workplace.configure(readFileSync(stage.config, 'utf8'));
  await using second = runDaemon(standby);
  await second.said('standing by');
  const said = async (config: string, ...args: readonly string[]) => {
    await using command = new Running([...args, '--config', config]);
    await command.ended;
    return command.output;
  };
  const standsBy = `This process stands by: process ${first.pid} on`;
  expect(await said(standby, 'status')).toContain(standsBy);
  expect(await said(standby, 'pause', one.email, '--yes', '--reason', 'a test')).toContain(standsBy);
  first.kill('SIGTERM');
  expect((await first.ended).code).toBe(0);
  const endedAt = performance.now();
  await second.said('this process is the active one');
  expect(performance.now() - endedAt).toBeLessThan(2_000);
  await second.onDuty();
  // On the machine of the one that ended no daemon answers, and yet all is guarded.
  expect(await said(stage.config, 'status')).toContain(
    'No daemon answers on this machine: unless one runs on another, nothing is guarded.',
  );
  one.days = week(40, 4);
  await actedOnce(one);

  await stage.start().said('standing by');
  second.kill('SIGKILL');
  two.days = week(40, 4);
  await actedOnce(two);
  expect(first.output + second.output + stage.daemon.output).not.toContain(password);
});
