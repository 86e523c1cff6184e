// PostgreSQL in trouble under an active process and a standby: it answers nothing, its tables are locked, or the connections to it are cut
// without a word. People are told, nothing is done that can't be recorded, and once the trouble is over all continues by itself, each breach
// acted upon and told once. An active process that is frozen in the midst of a query notifies no one of a store that was there all the time.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { Crew } from '../support/crew.ts';
import { ending } from '../support/ending.ts';
import { week } from '../support/other-api.ts';
import { TestPostgres } from '../support/postgres.ts';
import { until } from '../support/until.ts';

const postgres = await TestPostgres.own();
const crew = await Crew.start(postgres, 2, ['a', 'b']);
afterAll(() => ending(crew, postgres)[Symbol.asyncDispose]());

/** A breach on each account. */
const breachesOf = (name: string) =>
  [...crew.accounts.keys()].map((account) => {
    const mailbox = crew.api(account).add(`${name}@${account}.example`, { days: week(40, 4) });
    return { account, mailbox };
  });

/** Brings it about; what it returns ends it. */
type Trouble = () => Promise<() => unknown>;

const troubles: readonly (readonly [what: string, happen: Trouble])[] = [
  ['a server that accepts connections and answers nothing', () => postgres.freeze()],
  ['tables that another session has locked', () => postgres.lockAll(crew.database)],
];

test.each(troubles)('%s', async (_, happen) => {
  const outage = () => crew.receiver.alerts().filter(({ rule }) => rule === 'store_failing');
  const { daemon } = (await crew.both()).active;
  const isReady = async () => (await fetch(`${await daemon.onDuty()}/readyz`)).status === 200;
  const before = outage().length;
  const end = await happen();
  const breaches = breachesOf(`breach${before}`);
  await until('people to be told', () => outage().length > before);
  await until('the active process to say so', async () => !(await isReady()));
  for (const { account, mailbox } of breaches) expect(crew.api(account).posts(mailbox)).toHaveLength(0);
  await end();
  for (const { account, mailbox } of breaches) await crew.untilActed(account, mailbox);
  await until('people to be told of the end', () => outage().at(-1)?.status === 'resolved');
  await until('the active process to be ready', isReady);
  await crew.untilActive();
  for (const { account, mailbox } of breaches) expect(crew.acted(account, mailbox)).toEqual({ posts: 1, told: 1 });
});

test.each(['writes', 'all'] as const)(
  'connections (%s) that are cut without a word, while new ones pass',
  async (which) => {
    const { proxy } = (await crew.both()).active;
    const before = proxy.swallowed;
    await until('something to be asked in vain', () => {
      proxy.silence(which);
      return proxy.swallowed > before;
    });
    const breaches = breachesOf(which);
    for (const { account, mailbox } of breaches)
      await until(`${mailbox.email} to be acted upon`, () => crew.api(account).posts(mailbox).length > 0);
    const { daemon } = await crew.untilActive();
    await until('it to be ready', async () => (await fetch(`${await daemon.onDuty()}/readyz`)).status === 200);
    for (const { account, mailbox } of breaches) expect(crew.api(account).posts(mailbox)).toHaveLength(1);
  },
);

test('an active process that was frozen in a query ends once it runs again, and pages no one', async () => {
  await using own = await Crew.start(postgres, 2, ['a', 'b']);
  const { active: notifier } = await own.both();
  const frozen = notifier.daemon;
  // Its queries wait, until long after it is frozen: those of an account that it guards, and those that compose messages.
  const locked = own.query(
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
  expect(own.receiver.alerts().filter(({ rule }) => rule === 'store_failing')).toEqual([]);
  expect(await own.untilActive()).not.toBe(notifier);
});
