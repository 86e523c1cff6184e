// A failover of PostgreSQL under an active process and a standby: the standby lacks the last commits, and what was the primary is read-only behind the
// same address for a while. No breach is acted upon twice, and all goes on by itself.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Crew } from '../support/crew.ts';
import { type OtherMailbox, week } from '../support/other-api.ts';
import { TestPostgres } from '../support/postgres.ts';
import { until } from '../support/until.ts';

const lookEveryMs = 250;

test('after a failover that lost commits, nothing is done twice, and a process goes on once the address leads to the primary', async () => {
  await using primary = await TestPostgres.own();
  await using standby = await primary.standby();
  await using crew = await Crew.start(primary, 2, ['a', 'b']);
  await (await crew.both()).active.daemon.said('PostgreSQL replicates asynchronously');
  const told = (text: string) => crew.receiver.alerts().filter((alert) => JSON.stringify(alert).includes(text));
  const breach = (account: string, name: string) =>
    crew.api(account).add(`${name}@${account}.example`, { days: week(40, 4) });
  const reads = (account: string, mailbox: OtherMailbox) => crew.api(account).reads('/v1/stats', mailbox).length;
  const once = async (account: string, mailbox: OtherMailbox) => {
    await crew.untilActed(account, mailbox);
    const before = reads(account, mailbox);
    await until('three more readings', () => reads(account, mailbox) >= before + 3);
    expect([mailbox.email, crew.acted(account, mailbox)]).toEqual([mailbox.email, { posts: 1, told: 1 }]);
  };
  const known = breach('a', 'known');
  await once('a', known);
  await standby.has("SELECT FROM warmwarden.actions WHERE state = 'confirmed'", crew.database);

  // What the standby does not get.
  await standby.fallBehind(primary);
  const lost = breach('a', 'lost');
  await once('a', lost);

  // The address leads to a server that is read-only: an outage.
  await standby.promote();
  await primary.demote();
  const during = breach('b', 'during');
  await until('people to be told', () => told('store_failing').length > 0);
  const { daemon } = (await crew.both()).active;
  await until('the active process to meet it', () => daemon.output.includes('in a read-only transaction'));
  expect(crew.acted('b', during)).toEqual({ posts: 0, told: 0 });

  crew.lead(standby);
  await once('b', during);
  await daemon.ended;
  expect(daemon.output).toContain('PostgreSQL lost what this process had stored last');
  await crew.untilActive();
  await once('b', breach('b', 'after'));
  expect([crew.acted('a', known), crew.acted('a', lost)]).toEqual([
    { posts: 1, told: 1 },
    { posts: 1, told: 1 },
  ]);
  // The store has what the fleet has: nobody goes on with what only a process remembers.
  const emails = 'SELECT email FROM warmwarden.mailboxes ORDER BY 1';
  const mailboxes = ['a', 'b'].flatMap((account) => [...crew.api(account).mailboxes.values()]);
  const expected = mailboxes
    .map(({ email }) => email)
    .toSorted()
    .join();
  await until('the store to have every mailbox', async () => {
    await sleep(lookEveryMs);
    return (await crew.query<{ email: string }>(emails)).map(({ email }) => email).join() === expected;
  });
  // The change that it forgot looks like somebody else's now: a mailbox found in recovery mode with a breach.
  const found = () => told(lost.email).filter(({ rule }) => rule === 'bounce_over_limit');
  await until('people to be told of it', () => found().length > 0);
  expect(found()).toHaveLength(1);
});
