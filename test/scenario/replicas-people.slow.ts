// Two daemons on one PostgreSQL: a person who reaches the one commands the account that the other guards, and sees both.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Stage } from '../support/guarded.ts';
import { week } from '../support/other-api.ts';
import { TestPostgres } from '../support/postgres.ts';
import { Running, runDaemon, Workplace } from '../support/process.ts';
import { until } from '../support/until.ts';

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await TestPostgres.own();
});
afterAll(() => postgres[Symbol.asyncDispose]());

interface ReplicasAnswer {
  readonly troubles: readonly string[];
  readonly replicas: readonly { readonly accounts: readonly string[]; readonly this_one: boolean }[];
}

test('a command and an emergency stop reach the replica that guards the account; after its death the other guards it', async () => {
  const { host, port, user, database } = await postgres.database();
  const url = `postgres://${user}@${host}:${port}/${database}`;
  await using stage = await Stage.open({ file: { store: { url, tls: 'off' } } });
  const [one, two] = [stage.api.add('one@fleet.example'), stage.api.add('two@fleet.example')];
  stage.start();
  await until('the fleet to be known', () =>
    [one, two].every((mailbox) => stage.api.reads('/v1/stats', mailbox).length >= 3),
  );
  using workplace = new Workplace();
  const config = workplace.configure(readFileSync(stage.config, 'utf8'));
  await using second = runDaemon(config);
  const there = await second.onDuty();
  const said = async (...args: readonly string[]) => {
    await using command = new Running([...args, '--config', config]);
    await command.ended;
    return command.output;
  };
  const replicas = async () => (await (await fetch(`${there}/api/replicas`)).json()) as ReplicasAnswer;
  await until('both to be seen', async () => (await replicas()).replicas.length === 2);
  const seen = (await replicas()).replicas.map(({ accounts, this_one: isIt }) => [isIt, accounts]);
  expect(seen.toSorted()).toEqual([
    [false, ['acme']],
    [true, []],
  ]);

  const paused = await said('pause', 'one@fleet.example', '--yes', '--reason', 'a test');
  expect(paused).toMatch(/Warmwarden paused the warm-up of one@fleet\.example \(account acme\)\. Read back after/);
  expect(stage.api.posts(one)).toHaveLength(1);

  await said('writes', 'off', '--yes', '--reason', 'a test');
  expect(await said('pause', 'two@fleet.example', '--yes', '--reason', 'a test')).toMatch(
    /Writes are off|not sent|switched off/i,
  );
  expect(stage.api.posts(two)).toHaveLength(0);
  await said('writes', 'on', '--yes', '--reason', 'a test');

  stage.daemon.kill('SIGKILL');
  await until('the other to guard the account', async () =>
    (await replicas()).replicas.some(({ this_one: isIt, accounts }) => isIt && accounts.includes('acme')),
  );
  two.days = week(40, 4);
  await until('it to act', () => stage.api.posts(two).length > 0);
  expect(stage.api.posts(two)).toHaveLength(1);
});
