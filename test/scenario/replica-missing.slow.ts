// People are told of a replica that crashed and was not started again, once, and of its end; of one that was stopped they are not.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestPostgres } from '../support/postgres.ts';
import { ReplicaCrew } from '../support/replica-crew.ts';
import { until } from '../support/until.ts';

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await TestPostgres.start();
});
afterAll(() => postgres[Symbol.asyncDispose]());

test('a replica that is killed is told until another joins; one that crashes and is back at once, and one that is stopped, are not', async () => {
  await using crew = await ReplicaCrew.start(postgres, 3, ['a', 'b', 'c'], {
    rules: { replica_missing: { for: '1s' } },
  });
  const [first, second, third] = crew.slots;
  if (!first || !second || !third) throw new Error('three replicas');
  const told = () =>
    crew.receiver.notified.flatMap((message) =>
      message.status === 200 && message.text.includes('replica_missing')
        ? crew.receiver.verified(message).flatMap(({ rule, status }) => (rule === 'replica_missing' ? [status] : []))
        : [],
    );
  const living = async (count: number) =>
    (await crew.query("SELECT 1 FROM warmwarden.replicas WHERE wants <> '[]'")).length === count;

  first.daemon.kill('SIGTERM');
  await first.daemon.ended;
  await until('the others to guard all', async () => new Set((await crew.owners()).values()).size === 2);
  crew.restart(first);
  await first.url;
  await crew.untilShared();
  await second.daemon.killNow();
  crew.restart(second);
  await second.url;
  await until('the crash to be noticed', async () => living(3));
  await crew.untilShared();
  expect(await crew.query('SELECT name FROM warmwarden.ended_replicas')).toEqual([]);

  const { pid } = third.daemon;
  await third.daemon.killNow();
  await until('people to be told', () => told().length === 1);
  const status = await crew.command(first, 'status');
  expect(status.said).toMatch(new RegExp(`Replica process ${pid} on .* ended without a normal stop`));
  crew.restart(third);
  await until('its end to be told', () => told().length === 2);
  expect(told()).toEqual(['firing', 'resolved']);
});
