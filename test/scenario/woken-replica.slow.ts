// A replica that sends the messages is frozen in the midst of a query, for longer than the time of the query and of its lease: when it
// goes on, PostgreSQL has been there all the time, and nobody is notified of a failing store.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestPostgres } from '../support/postgres.ts';
import { ReplicaCrew } from '../support/replica-crew.ts';
import { until } from '../support/until.ts';

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await TestPostgres.start();
});
afterAll(() => postgres[Symbol.asyncDispose]());

// Whether one of its queries is in progress at that moment is chance: the test fails where none was, and is repeated.
test('a replica that was frozen in a query pages no one once it runs again, and guards again', {
  retry: 2,
}, async () => {
  await using crew = await ReplicaCrew.start(postgres, 2, ['a', 'b']);
  const notifier = (await crew.owners()).get('notify');
  if (!notifier) throw new Error('a notifier');
  // Its queries wait, until long after it is frozen: those of an account that it guards, and those that compose messages.
  const locked = crew.query(
    'BEGIN; LOCK TABLE warmwarden.mailboxes, warmwarden.transitions; SELECT pg_sleep(4); COMMIT',
  );
  await sleep(2_000);
  notifier.daemon.kill('SIGSTOP');
  await locked;
  await sleep(30_000);
  notifier.daemon.kill('SIGCONT');
  const joined = () => notifier.daemon.log.some(({ msg }) => msg.includes('it joins the others again'));
  await until('it to join again', joined);
  await sleep(25_000);
  const failures = notifier.daemon.log.filter(({ msg }) => /could not be recorded|store is failing/.test(msg));
  expect(failures).not.toEqual([]);
  expect(crew.receiver.alerts().filter(({ rule }) => rule === 'store_failing')).toEqual([]);
  await until('both to guard', async () => {
    const owners = await crew.owners();
    return owners.has('account:a') && owners.has('account:b') && owners.has('notify');
  });
});
