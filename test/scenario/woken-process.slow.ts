// The active process is frozen in the midst of a query, for longer than the time of the query and of its lease: when it
// goes on, PostgreSQL has been there all the time, and nobody is notified of a failing store.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { Crew } from '../support/crew.ts';
import { TestPostgres } from '../support/postgres.ts';

const postgres = await TestPostgres.start();
afterAll(() => postgres[Symbol.asyncDispose]());

test('an active process that was frozen in a query ends once it runs again, and pages no one', async () => {
  await using crew = await Crew.start(postgres, 2, ['a', 'b']);
  const { active: notifier } = await crew.both();
  const frozen = notifier.daemon;
  // Its queries wait, until long after it is frozen: those of an account that it guards, and those that compose messages.
  const locked = crew.query(
    'BEGIN; LOCK TABLE warmwarden.mailboxes, warmwarden.transitions; SELECT pg_sleep(4); COMMIT',
  );
  await sleep(2_000);
  frozen.kill('SIGSTOP');
  await locked;
  await sleep(30_000);
  frozen.kill('SIGCONT');
  expect(await frozen.ended).toEqual({ code: 1, signal: null });
  expect(frozen.output).toContain('another process has taken the lease of this one');
  await sleep(25_000);
  expect(crew.receiver.alerts().filter(({ rule }) => rule === 'store_failing')).toEqual([]);
  expect(await crew.untilActive()).not.toBe(notifier);
});
