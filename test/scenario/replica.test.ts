// A daemon that is one of several: it does what is its work, shows who does the rest, and stops what it loses.
import { DatabaseSync } from 'node:sqlite';
import { request } from 'undici';
import { expect, test, vi } from 'vitest';
import { type BreakerEntry, closedBreaker } from '../../src/core/breaker.ts';
import { minuteMs, secondMs } from '../../src/core/time.ts';
import { AtRiskError } from '../../src/store/failure.ts';
import { tooFar } from '../../src/store/replicas/skew.ts';
import { Store } from '../../src/store/store.ts';
import { amelia, oliver, stormOf } from '../account/duty.ts';
import { failWrites } from '../support/failing-writes.ts';
import { MovedMembership, replica } from '../support/moved-membership.ts';
import { type MovedOptions, startMovedDaemon } from './moved-daemon.ts';

const poll = { health: '* * * * *', mailboxes: '* * * * *', stats: '*/10 * * * *', warmup: '*/30 * * * *' };

async function begin(before: MovedOptions['before'] = async () => {}, expectErrors: readonly string[] = []) {
  const membership = new MovedMembership();
  const { openStore } = membership;
  const stage = await startMovedDaemon({
    scenario: stormOf(amelia, oliver),
    poll,
    second: [oliver],
    openStore,
    before,
    expectErrors,
  });
  return {
    stage,
    membership,
    requests: () => stage.simulator.requests.length,
    unguarded: () =>
      stage
        .fleet()
        .guarding()
        .filter(({ unguarded }) => unguarded !== null)
        .map(({ account }) => account),
    probe: async (path: string) => {
      const { statusCode, body } = await request(`${stage.url()}${path}`);
      return `${statusCode} ${await body.text()}`;
    },
    [Symbol.asyncDispose]: () => stage[Symbol.asyncDispose](),
  };
}

test('it asks for all work, does none that it has not got, and says what nobody does', async () => {
  await using scene = await begin();
  const { stage, membership } = scene;
  expect(membership.wanted).toEqual(['notify', 'account:agency', 'account:second', 'clock']);
  membership.others = [replica('host-b', ['account:second'])];
  await membership.give('notify', 'free');
  await stage.run(3 * minuteMs);
  expect([scene.requests(), scene.unguarded()]).toEqual([0, ['agency']]);
  expect(await scene.probe('/readyz')).toMatch(
    /account agency has not been guarded since .*: no replica of Warmwarden guards it/,
  );
  expect(await scene.probe('/metrics')).toContain('warmwarden_leases_held 0');
  await membership.give('account:agency', 'inherited');
  await stage.run(5 * minuteMs);
  expect(scene.unguarded()).toEqual([]);
  expect(await scene.probe('/readyz')).toBe('200 ready\n');
  const metrics = await scene.probe('/metrics');
  expect(metrics).toContain('warmwarden_leases_held 1');
  expect(metrics).toContain('warmwarden_account_guarded{account="agency"} 1');
  expect(metrics).not.toContain('account="second"');
  expect(stage.notified('account_unguarded')).toEqual(['firing', 'resolved']);
});

test('what is given away, and what is lost, ends; what is taken again goes on with what is stored', async () => {
  await using scene = await begin();
  const { stage, membership } = scene;
  for (const scope of membership.wanted) await membership.give(scope, 'free');
  await stage.run(5 * minuteMs);
  const known = stage.mailbox(amelia)?.stats?.at ?? 0;
  expect(known).toBeGreaterThan(0);
  const given = membership.takeBack('account:agency');
  await stage.run(minuteMs);
  await given;
  membership.others = [replica('host-b', ['account:agency'])];
  const before = stage.simulator.requests.length;
  await stage.run(5 * minuteMs);
  const asked = stage.simulator.requests.slice(before).filter(({ path }) => path === '/v1/mailboxes').length;
  expect(asked).toBe(5);
  expect(await scene.probe('/metrics')).toContain('warmwarden_leases_held 1');
  const lost = membership.lose();
  await stage.run(minuteMs);
  await lost;
  const after = scene.requests();
  await stage.run(5 * minuteMs);
  expect(scene.requests()).toBe(after);
  membership.others = [];
  await membership.give('account:agency', 'inherited');
  expect(stage.mailbox(amelia)?.stats?.at).toBe(known);
  await stage.run(30 * minuteMs);
  expect(stage.mailbox(amelia)?.stats?.at).toBeGreaterThan(known);
});

test('an outage that began before the account was taken is as old as its alert says, and this replica tries for a minute, too', async () => {
  await using scene = await begin(undefined, ['the API does not answer (GET /v1/mailboxes: http://127.0.0.1:9']);
  const { stage, membership } = scene;
  for (const scope of membership.wanted) await membership.give(scope, 'free');
  await stage.reload((config) => {
    for (const account of config.accounts) if (account['name'] === 'second') account['base_url'] = 'http://127.0.0.1:9';
  });
  await stage.run(10 * minuteMs);
  const offers = membership.offered.length;
  expect(offers).toBeGreaterThan(0);
  const given = membership.takeBack('account:second');
  await stage.run(secondMs);
  await given;
  await membership.give('account:second', 'inherited');
  await stage.run(50 * secondMs);
  const alert = [...stage.fleet().alerts()].find(({ rule }) => rule === 'api_down');
  expect(alert?.status).toBe('firing');
  expect(stage.fleet().account('second')?.failingSince).toBe(alert?.since);
  expect(membership.offered.length).toBe(offers);
  await stage.run(minuteMs);
  expect(membership.offered.length).toBeGreaterThan(offers);
});

test('an account whose lease is gone ends at once, and no other; taken again it goes on', async () => {
  await using scene = await begin();
  const { stage, membership } = scene;
  for (const scope of membership.wanted) await membership.give(scope, 'free');
  await stage.run(5 * minuteMs);
  const lists = () => stage.simulator.requests.filter(({ path }) => path === '/v1/mailboxes').length;
  const dropped = membership.drop('account:agency');
  await stage.run(minuteMs);
  await dropped;
  expect(['agency', 'second'].map((name) => stage.fleet().account(name) === undefined)).toEqual([true, false]);
  const before = lists();
  await stage.run(5 * minuteMs);
  expect(lists() - before).toBe(5);
  await membership.give('account:agency', 'inherited');
  const both = lists();
  await stage.run(5 * minuteMs);
  expect(lists() - both).toBeGreaterThanOrEqual(9);
});

test("an account that is taken while the store can't be read begins with what is stored, once it can", async () => {
  const expected = ['The store is failing', 'could not start or end', 'failed: Warmwarden retries', 'restart'];
  let storePath = '';
  await using scene = await begin(async (_, __, path) => {
    storePath = path;
  }, expected);
  const { stage, membership } = scene;
  for (const scope of membership.wanted) await membership.give(scope, 'free');
  await stage.run(5 * minuteMs);
  const dropped = membership.drop('account:agency');
  await stage.run(minuteMs);
  await dropped;
  using beside = new DatabaseSync(storePath);
  // As after a failover of PostgreSQL that lost the newest commits.
  beside.exec("DELETE FROM mailboxes WHERE account = 'agency'; ALTER TABLE silences RENAME TO away");
  await membership.give('account:agency', 'inherited');
  await stage.run(2 * minuteMs);
  expect(scene.unguarded()).toEqual(['agency']);
  beside.exec('ALTER TABLE away RENAME TO silences');
  await stage.run(10 * minuteMs);
  expect(scene.unguarded()).toEqual([]);
  expect(beside.prepare('SELECT email FROM mailboxes WHERE account = ?').all('agency')).toEqual([{ email: amelia }]);
});

test('it is not ready from the failed start of an account that it took until the account is polled, soon after the store can be read', async () => {
  await using scene = await begin(undefined, ['could not start or end', 'failed: Warmwarden retries', 'restart']);
  const { stage, membership } = scene;
  for (const scope of membership.wanted) await membership.give(scope, 'free');
  await stage.run(5 * minuteMs);
  const dropped = membership.drop('account:agency');
  await stage.run(secondMs);
  await dropped;
  const reading = vi.spyOn(Store.prototype, 'loadPicture').mockRejectedValue(new Error('too many connections'));
  await membership.give('account:agency', 'inherited');
  await stage.run(2 * secondMs);
  const notReady = /^503 not ready: account agency has not been guarded since .*: its polling did not start/;
  expect(await scene.probe('/readyz')).toMatch(notReady);
  expect(stage.notified('account_unguarded')).toEqual([]);
  // Its lease is gone for a moment, and comes back.
  const again = membership.drop('account:agency');
  await stage.run(20 * secondMs);
  await again;
  expect(await scene.probe('/readyz')).toMatch(/^503 not ready: account agency has not been guarded since/);
  await membership.give('account:agency', 'inherited');
  for (let looks = 0; looks < 8; looks += 1) {
    await stage.run(15 * secondMs);
    expect(await scene.probe('/readyz')).toMatch(notReady);
  }
  expect(stage.notified('account_unguarded')).toEqual(['firing']);
  reading.mockRestore();
  const lists = () => stage.simulator.requests.filter(({ path }) => path === '/v1/mailboxes').length;
  const before = lists();
  await stage.run(25 * secondMs);
  expect(scene.unguarded()).toEqual([]);
  expect(lists()).toBeGreaterThan(before);
  expect(await scene.probe('/readyz')).toBe('200 ready\n');
  await stage.run(5 * minuteMs);
  expect(stage.notified('account_unguarded')).toEqual(['firing', 'resolved']);
});

test('an account whose first start hangs is not guarded from the first moment, and notified after a minute', async () => {
  await using scene = await begin();
  const { stage, membership } = scene;
  membership.others = [replica('host-b', ['account:second', 'clock'])];
  await membership.give('notify', 'free');
  const works = Promise.withResolvers<void>();
  const { ledgers } = Store.prototype;
  const reading = vi.spyOn(Store.prototype, 'ledgers').mockImplementation(async function (this: Store) {
    await works.promise;
    return ledgers.call(this);
  });
  const release = () => {
    reading.mockRestore();
    works.resolve();
  };
  using _released = { [Symbol.dispose]: release };
  const given = membership.give('account:agency', 'inherited');
  await stage.run(20 * secondMs);
  const starting = /^503 not ready: account agency is starting \(since .*\): its polling did not start\n$/;
  expect(await scene.probe('/readyz')).toMatch(starting);
  expect(await scene.probe('/metrics')).toContain('warmwarden_account_guarded{account="agency"} 0');
  expect(await scene.probe('/')).toContain('Starting: Warmwarden has not read a mailbox list yet.');
  expect(JSON.parse((await scene.probe('/api/fleet')).slice(4)).not_guarded).toEqual(['agency']);
  await stage.run(30 * secondMs);
  expect(await scene.probe('/readyz')).toMatch(starting);
  expect(stage.notified('account_unguarded')).toEqual([]);
  await stage.run(minuteMs);
  expect(await scene.probe('/readyz')).toMatch(/^503 not ready: account agency has not been guarded since/);
  expect(stage.notified('account_unguarded')).toEqual(['firing']);
  release();
  await given;
  await stage.run(2 * minuteMs);
  expect(await scene.probe('/readyz')).toBe('200 ready\n');
});

test('what the breaker holds of an account that only another replica has stays held; of one that nobody has it is withdrawn', async () => {
  const entryOf = (account: string): BreakerEntry => ({
    ...{ key: `${account}/m1`, account, email: `m1@${account}.example`, domain: `${account}.example` },
    ...{ at: Date.UTC(2026, 0, 1), held: true, firstSight: false, weight: 1 },
  });
  const state = { ...closedBreaker, openSince: Date.UTC(2026, 0, 1), entries: ['elsewhere', 'nowhere'].map(entryOf) };
  await using scene = await begin(async ({ url: api }, clock, path) => {
    const store = await Store.open(path, clock.now());
    const breaker = { api, before: closedBreaker, state, again: async () => null };
    await store.recordBreaker({ breaker, alerts: { changed: [], dropped: [], transitions: [] } });
    await store.close();
  });
  const { stage, membership } = scene;
  expect(stage.breaker()).toEqual(state);
  membership.others = [replica('host-b', ['account:elsewhere'])];
  await membership.give('clock', 'free');
  expect(stage.breaker()).toEqual({ ...state, entries: [entryOf('elsewhere')] });
});

test('a replica that does not send the messages says that its writes fail, and that they work again', async () => {
  await using scene = await begin(undefined, ['The store is failing.']);
  const { stage, membership } = scene;
  for (const scope of ['account:agency', 'account:second', 'clock'] as const) await membership.give(scope, 'free');
  await stage.run(5 * minuteMs);
  membership.overdue = new Error('canceling statement due to lock timeout');
  await stage.run(5 * secondMs);
  expect(await scene.probe('/readyz')).toContain('the store is failing');
  expect(await scene.probe('/metrics')).toContain('warmwarden_ready 0\n');
  expect(membership.reported.storeFailure?.said).toBe('canceling statement due to lock timeout');
  membership.overdue = null;
  await stage.run(2 * minuteMs);
  expect(await scene.probe('/readyz')).toBe('200 ready\n');
  expect(await scene.probe('/metrics')).toContain('warmwarden_ready 1\n');
  expect(membership.reported.storeFailure).toBe(null);
});

test('who sends the messages tells once what another says of the store; who ceases to send them keeps no failure', async () => {
  await using scene = await begin(undefined, ['The store is failing.']);
  const { stage, membership } = scene;
  const storeFailure = { said: 'permission denied for table mailboxes', remedy: 'Give it its rights.', lasting: false };
  for (const scope of membership.wanted) await membership.give(scope, 'free');
  await stage.run(5 * minuteMs);
  membership.others = [{ ...replica('host-b', []), storeFailure }];
  await stage.run(5 * secondMs);
  expect(stage.notified('store_failing')).toEqual(['firing']);
  expect(await scene.probe('/api/alerts')).toContain('eplica host-b says: permission denied');
  expect(await scene.probe('/readyz')).toBe('200 ready\n');
  await stage.run(5 * minuteMs);
  membership.others = [replica('host-b', [])];
  await stage.run(2 * minuteMs);
  expect(stage.notified('store_failing')).toEqual(['firing', 'resolved']);
  membership.overdue = new Error('canceling statement due to lock timeout');
  await stage.run(5 * secondMs);
  expect(stage.notified('store_failing')).toEqual(['firing', 'resolved', 'firing']);
  membership.overdue = null;
  const given = membership.takeBack('notify');
  await stage.run(2 * minuteMs);
  await given;
  expect(await scene.probe('/readyz')).toBe('200 ready\n');
  const again = membership.give('notify', 'handed_over');
  await stage.run(3 * minuteMs);
  await again;
  expect(stage.notified('store_failing')).toEqual(['firing', 'resolved', 'firing', 'resolved']);
});

test('when no replica can send the messages, the one that is left sends one alert, and the next one its end', async () => {
  await using scene = await begin(undefined, ['A replica takes no work: its clock is wrong.', '']);
  const { stage, membership } = scene;
  const told = () => stage.notified('store_failing');
  membership.others = [replica('host-b', ['account:agency', 'account:second', 'notify', 'clock'])];
  membership.overdue = tooFar('host-a', -45_000);
  await stage.run(30 * secondMs);
  expect(told()).toEqual([]);
  membership.others = [];
  await stage.run(5 * minuteMs);
  expect(told()).toEqual(['firing']);
  expect(await scene.probe('/readyz')).toContain('a replica takes no work: its clock is wrong');
  // What the store does not have yet is shown all the same: nothing that is read takes it away.
  expect(await scene.probe('/api/alerts')).toContain('he clock of host-a is 45 s ahead of');
  membership.overdue = null;
  for (const scope of membership.wanted) await membership.give(scope, 'free');
  await stage.run(5 * minuteMs);
  expect(told()).toEqual(['firing', 'resolved']);
  expect(await scene.probe('/readyz')).toBe('200 ready\n');
});

test('of several replicas, the one that sends store_failing is named in it', async () => {
  await using scene = await begin(undefined, ['']);
  const { stage, membership } = scene;
  membership.others = [replica('host-b', ['account:agency'])];
  await membership.give('notify', 'free');
  using writes = failWrites(() => true);
  await stage.run(2 * minuteMs);
  expect(writes.failed).toBeGreaterThan(0);
  expect(stage.notified('store_failing')).toEqual(['firing']);
  expect(stage.receiver.alerts().at(-1)?.sentences[0]).toMatch(/^Replica process \d+ on \S+ says: /);
});

test('who sends the messages tells a second outage once, though the end of the first one is what is stored', async () => {
  await using scene = await begin(undefined, ['']);
  const { stage, membership } = scene;
  await membership.give('notify', 'free');
  for (const outage of [1, 2]) {
    {
      using writes = failWrites(() => true);
      await stage.run(5 * minuteMs);
      expect(writes.failed).toBeGreaterThan(0);
    }
    await stage.run(5 * minuteMs);
    const told = stage.notified('store_failing');
    expect(told).toEqual(['firing', 'resolved', 'firing', 'resolved'].slice(0, 2 * outage));
  }
});

test('a replica that notified people of an outage announces its end, although another one sends the messages by then', async () => {
  await using scene = await begin(undefined, ['A replica takes no work: its clock is wrong.', '']);
  const { stage, membership } = scene;
  const told = () => stage.notified('store_failing');
  membership.overdue = tooFar('host-a', -45_000);
  await stage.run(minuteMs);
  expect(told()).toEqual(['firing']);
  membership.overdue = null;
  membership.others = [replica('host-b', ['account:agency', 'account:second', 'notify', 'clock'])];
  await stage.run(minuteMs);
  // It is recorded: whoever sends the messages sends it.
  membership.others = [];
  const given = membership.give('notify', 'free');
  await stage.run(45 * secondMs);
  await given;
  expect(told()).toEqual(['firing', 'resolved']);
  expect(JSON.stringify(stage.receiver.alerts().at(-1))).toContain('eplicas do all the work again');
  await stage.run(5 * minuteMs);
  expect(told()).toEqual(['firing', 'resolved']);
});

test('a replica that reaches nothing for five minutes says so itself, though another one may send the messages', async () => {
  await using scene = await begin(undefined, ['The store is failing.', '']);
  const { stage, membership } = scene;
  const told = () => stage.notified('store_failing');
  membership.others = [replica('host-b', ['account:agency', 'account:second', 'notify', 'clock'])];
  membership.overdue = new AtRiskError('it does not answer', 'Start it.');
  await stage.run(4 * minuteMs);
  expect(told()).toEqual([]);
  await stage.run(2 * minuteMs);
  expect(told()).toEqual(['firing']);
  expect(JSON.stringify(stage.receiver.alerts())).toContain('cannot see whether another replica guards the accounts');
  await stage.run(10 * minuteMs);
  expect(told()).toEqual(['firing']);
});
