// A daemon whose store is in PostgreSQL: killed at a POST, and with a database that is away while a mailbox breaches.
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

/** A stage, and a word that is nowhere to be read. */
async function open() {
  const { host, port, user, database } = await postgres.database();
  const stage = await Stage.open({
    file: { store: { url: `postgres://${user}@${host}:${port}/${database}`, password, tls: 'off' } },
  });
  const fleet = ['one', 'two', 'three'].map((name) => stage.api.add(`${name}@fleet.example`));
  const known = (mailbox: OtherMailbox) => stage.api.reads('/v1/stats', mailbox).length >= 3;
  stage.start();
  await until('the fleet to be known', () => fleet.every(known));
  const acted = (mailbox: OtherMailbox) => ({
    posts: stage.api.posts(mailbox).length,
    told: stage.receiver.notified.filter(
      ({ to, status, text }) =>
        to === 'hook' && status === 200 && text.includes(mailbox.email) && text.includes('guard_acted'),
    ).length,
  });
  const actedOnce = async (mailbox: OtherMailbox) => {
    await until('it to be acted upon and told', () => acted(mailbox).posts > 0 && acted(mailbox).told > 0);
    const reads = stage.api.reads('/v1/stats', mailbox).length;
    await until('two more readings', () => stage.api.reads('/v1/stats', mailbox).length >= reads + 2);
    expect(acted(mailbox)).toEqual({ posts: 1, told: 1 });
  };
  return { stage, fleet, acted, actedOnce };
}

test('it acts once on each breach, through a kill -9 at a POST and an outage of PostgreSQL, and goes on by itself', async () => {
  const { stage, fleet, acted, actedOnce } = await open();
  await using _stage = stage;
  const [one, two, three] = fleet;
  if (!one || !two || !three) throw new Error('three mailboxes');
  stage.api.applied = ({ mailboxId }) => void (mailboxId === one.id && stage.daemon.kill('SIGKILL'));
  one.days = week(40, 4);
  await stage.daemon.ended;
  stage.api.applied = () => {};
  stage.start();
  await actedOnce(one);

  await postgres.down('fast');
  two.days = week(40, 4);
  const failing = (text: string) => text.includes('store_failing') && text.includes('does not answer');
  await until('people to be told', () => stage.receiver.notified.some(({ text }) => failing(text)));
  const readings = stage.api.reads('/v1/stats', two).length;
  expect(acted(two)).toEqual({ posts: 0, told: 0 });
  expect((await fetch(`${await stage.daemon.onDuty()}/readyz`)).status).toBe(503);
  await postgres.up();
  const onDuty = await stage.daemon.onDuty();
  await until('it to be ready', async () => (await fetch(`${onDuty}/readyz`)).status === 200);
  // It is guarded, and says so; that it stays so is told later.
  expect(await (await fetch(`${onDuty}/api/alerts`)).text()).toContain('"store_failing"');
  await until('it to be read again', () => stage.api.reads('/v1/stats', two).length > readings);
  await actedOnce(two);

  await postgres.down('immediate');
  await postgres.up();
  three.days = week(40, 4);
  await actedOnce(three);
  expect(stage.daemon.over).toBe(false);
  expect(stage.daemon.output).not.toContain(password);
});

test('a second daemon stands by, and goes on when the first one ends, in good order or by kill -9', async () => {
  const { stage, fleet, actedOnce } = await open();
  await using _stage = stage;
  const [one, two] = fleet;
  if (!one || !two) throw new Error('two mailboxes');
  using workplace = new Workplace();
  const standby = workplace.configure(readFileSync(stage.config, 'utf8'));
  await using second = runDaemon(standby);
  await second.said('standing by');
  const first = stage.daemon;
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
});
