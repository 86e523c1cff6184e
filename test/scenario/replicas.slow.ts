// Three real daemons on one PostgreSQL: they share the accounts, take over from one that is killed, stopped or restarted, and
// each breach is acted upon once and told once.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { OtherApi, type OtherMailbox, week } from '../support/other-api.ts';
import { TestPostgres } from '../support/postgres.ts';
import { type Running, runDaemon, Workplace } from '../support/process.ts';
import { Receiver } from '../support/receiver.ts';
import { until } from '../support/until.ts';

const names = ['a', 'b', 'c', 'd', 'e', 'f'];
const everyTwoSeconds = '*/2 * * * * *';
const routes = ['health', 'mailboxes', 'stats', 'warmup', 'mailbox', 'dns', 'blacklist'];

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await TestPostgres.start();
});
afterAll(() => postgres[Symbol.asyncDispose]());

/** An account: an API of its own, with mailboxes that are healthy until a test has them bounce. */
interface Account {
  readonly name: string;
  readonly api: OtherApi;
  readonly key: string;
}

async function open() {
  const { host, port, user, database } = await postgres.database();
  const receiver = await Receiver.start();
  const accounts: Account[] = [];
  for (const name of names) {
    const api = await OtherApi.start();
    accounts.push({ name, api, key: api.addKey() });
  }
  const config = {
    accounts: accounts.map(({ name, api, key }) => ({
      name,
      base_url: api.url,
      api_key: key,
      requests_per_minute: 1_200,
      headroom: '0%',
    })),
    poll: Object.fromEntries(routes.map((route) => [route, everyTwoSeconds])),
    alerts: {
      channels: [{ name: 'hook', type: 'webhook', url: receiver.hookUrl, secret: receiver.secret }],
      group_wait: '0s',
      group_interval: '1s',
    },
    store: { url: `postgres://${user}@${host}:${port}/${database}`, tls: 'off' },
    server: { listen: '127.0.0.1:0' },
    log: { level: 'info' },
  };
  const workplaces: Workplace[] = [];
  const running: Running[] = [];
  const accountOf = (name: string) => {
    const found = accounts.find((one) => one.name === name);
    if (!found) throw new Error(`no account ${name}`);
    return found;
  };
  const told = ({ email }: OtherMailbox) => {
    const sent = receiver.notified.filter(({ status, text }) => status === 200 && text.includes('guard_acted'));
    return new Set(sent.filter(({ text }) => text.includes(email)).map(({ headers }) => headers['webhook-id'])).size;
  };
  let mailboxes = 0;
  return {
    start(): Running {
      const workplace = new Workplace();
      workplaces.push(workplace);
      const daemon = runDaemon(workplace.configure(config));
      running.push(daemon);
      return daemon;
    },
    /** A mailbox that bounces from the beginning, and waits until it was acted upon. */
    begin: (name: string): OtherMailbox => {
      mailboxes += 1;
      return accountOf(name).api.add(`box${mailboxes}@${name}.example`, { days: week(40, 4) });
    },
    acted: (name: string, mailbox: OtherMailbox) => ({
      posts: accountOf(name).api.posts(mailbox).length,
      told: told(mailbox),
    }),
    reads: (name: string) => accountOf(name).api.reads('/v1/mailboxes').length,
    query: (sql: string) => postgres.query(sql, database),
    async [Symbol.asyncDispose]() {
      for (const daemon of running) await daemon[Symbol.asyncDispose]();
      for (const { api } of accounts) await api[Symbol.asyncDispose]();
      await receiver[Symbol.asyncDispose]();
      for (const workplace of workplaces) workplace[Symbol.dispose]();
    },
  };
}

type Scene = Awaited<ReturnType<typeof open>>;

/** The accounts that a daemon guards, as its metrics say. */
async function guardedBy(daemon: Running): Promise<readonly string[]> {
  const metrics = await (await fetch(`${await daemon.onDuty()}/metrics`)).text();
  return [...metrics.matchAll(/^warmwarden_account_guarded\{account="(\w+)"\} 1$/gm)].map(([, name = '']) => name);
}

/** Until each account is guarded by one of these daemons, and each daemon guards at least so many; who guards what. */
function untilShared(daemons: readonly Running[], least = 0): Promise<readonly (readonly string[])[]> {
  return until('each account to have one guard', async () => {
    const shares = await Promise.all(daemons.map(guardedBy));
    const isFair = shares.every(({ length }) => length >= least);
    return isFair && shares.flat().toSorted().join() === names.join() && shares;
  });
}

async function actedOnce(scene: Scene, name: string, mailbox: OtherMailbox): Promise<void> {
  await until(`${mailbox.email} to be acted upon and told`, () => {
    const { posts, told } = scene.acted(name, mailbox);
    return posts > 0 && told > 0;
  });
  const reads = scene.reads(name);
  await until('three more rounds', () => scene.reads(name) >= reads + 3);
  expect([name, scene.acted(name, mailbox)]).toEqual([name, { posts: 1, told: 1 }]);
}

test('three replicas share the accounts; through a kill -9, a stop past the deadline and a rolling restart each breach is acted upon once', async () => {
  await using scene = await open();
  let daemons: readonly Running[] = [scene.start(), scene.start(), scene.start()];
  for (const daemon of daemons) await daemon.onDuty();
  const shares = await untilShared(daemons, 2);

  // kill -9: its accounts are taken over, and a breach there is acted upon and told once.
  const [first, second, third] = daemons;
  if (!first || !second || !third) throw new Error('three daemons');
  const orphan = shares[0]?.[0] ?? '';
  await first.killNow();
  await actedOnce(scene, orphan, scene.begin(orphan));
  await untilShared([second, third]);

  // A stop past the deadline: others took its accounts over; thawed, it records nothing and opens no intent.
  const frozen = (await guardedBy(second))[0] ?? '';
  second.kill('SIGSTOP');
  const breach = scene.begin(frozen);
  await actedOnce(scene, frozen, breach);
  second.kill('SIGCONT');
  await second.said('lost its work');
  await untilShared([second, third]);
  await actedOnce(scene, frozen, breach);

  // A rolling restart, while mailboxes breach.
  daemons = [second, third];
  const breaches: (readonly [string, OtherMailbox])[] = [];
  for (const [index, daemon] of daemons.entries()) {
    for (const name of names) if (names.indexOf(name) % 2 === index) breaches.push([name, scene.begin(name)]);
    daemon.kill('SIGTERM');
    const next = scene.start();
    expect((await daemon.ended).code).toBe(0);
    await next.onDuty();
    daemons = daemons.with(index, next);
  }
  for (const [name, mailbox] of breaches) await actedOnce(scene, name, mailbox);
  await untilShared(daemons);
  const left = await scene.query("SELECT id FROM warmwarden.actions WHERE state = 'open'");
  expect(left).toEqual([]);
});
