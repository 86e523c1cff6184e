// docs/faults.md O3: an account that Warmwarden itself does not poll is shown, told, and polled again by itself.
import { request } from 'undici';
import { describe, expect, it } from 'vitest';
import { minuteMs, secondMs } from '../../src/core/time.ts';
import { Store } from '../../src/store/store.ts';
import { amelia, oliver, stormOf } from '../account/duty.ts';
import { type ClockFault, faultyClock } from '../support/faulty-clock.ts';
import { type MovedOptions, startMovedDaemon } from './moved-daemon.ts';

const poll = { health: '* * * * *', mailboxes: '* * * * *', stats: '*/10 * * * *', warmup: '*/30 * * * *' };
/** Where the loops of an account ask the clock. */
const loops = [
  ['request', 'api/poll/lane.ts'],
  ['schedule', 'account/cadence.ts'],
  ['time', '#keepTime'],
] as const;

async function begin(options: Partial<MovedOptions> = {}) {
  let faulty = faultyClock({} as never);
  const stage = await startMovedDaemon({
    scenario: stormOf(amelia, oliver),
    poll,
    second: [oliver],
    clock: (moved) => {
      faulty = faultyClock(moved);
      return faulty;
    },
    ...options,
  });
  await stage.run(2 * minuteMs);
  const guarding = (account: string) =>
    stage
      .fleet()
      .guarding()
      .find((one) => one.account === account);
  return {
    stage,
    fail: (place: string, fault: ClockFault, times?: number) => faulty.fail(place, fault, times),
    unguarded: (account: string) => guarding(account)?.unguarded ?? null,
    /** Who was asked about since then. */
    polled: (since: number) =>
      stage.simulator.requests.filter(({ at, path }) => at > since && path === '/v1/mailboxes').length,
    probe: async (path: string) => {
      const { statusCode, body } = await request(`${stage.url()}${path}`);
      return `${statusCode} ${await body.text()}`;
    },
    [Symbol.asyncDispose]: () => stage[Symbol.asyncDispose](),
  };
}

describe('the supervisor', () => {
  it.each(loops)('begins an account again at once when its %s loop ends with an error', async (_, place) => {
    await using scene = await begin();
    scene.stage.expectErrors('a loop of an account failed', 'Warmwarden restarts the polling of an account');
    scene.fail(place, 'throws');
    await scene.stage.run(minuteMs);
    const at = scene.stage.clock.now();
    await scene.stage.run(10 * minuteMs);
    expect(scene.polled(at)).toBeGreaterThanOrEqual(20);
    expect(scene.stage.notified('account_unguarded')).toEqual([]);
  });

  it.each(loops)('shows and reports an account whose %s loop hangs, and begins it again', async (loop, place) => {
    await using scene = await begin();
    const { stage } = scene;
    expect(await scene.probe('/readyz')).toBe('200 ready\n');
    stage.expectErrors(
      `Warmwarden restarts the polling of an account: its ${loop} loop is stuck`,
      'a loop that hangs was abandoned',
    );
    scene.fail(place, 'hangs');
    const either = () => scene.unguarded('agency') ?? scene.unguarded('second');
    await stage.until('an account that is not guarded', () => either() !== null, 2 * minuteMs);
    const [ill, well] = scene.unguarded('agency') ? ['agency', 'second'] : ['second', 'agency'];
    expect(await scene.probe('/readyz')).toMatch(
      new RegExp(`^503 not ready: account ${ill} has not been guarded since .*: its ${loop} loop is stuck`),
    );
    expect(await scene.probe('/healthz')).toBe('200 ok\n');
    const metrics = await scene.probe('/metrics');
    expect(metrics).toContain(`warmwarden_account_guarded{account="${ill}"} 0`);
    expect(metrics).toContain(`warmwarden_account_guarded{account="${well}"} 1`);
    expect(metrics).toContain(
      `warmwarden_alerts_firing{account="${ill}",rule="account_unguarded",severity="critical"} 1`,
    );
    expect(await scene.probe('/')).toContain(`NOT GUARDED: account ${ill} has not been polled`);
    const at = stage.clock.now();
    await stage.run(10 * minuteMs);
    expect(await scene.probe('/readyz')).toBe('200 ready\n');
    expect(await scene.probe('/metrics')).toContain(`warmwarden_account_guarded{account="${ill}"} 1`);
    expect(scene.polled(at)).toBeGreaterThanOrEqual(18);
    expect([...stage.fleet().alerts()].filter(({ rule }) => rule === 'account_unguarded')).toEqual([]);
  });

  it('tells once of an account that can not be begun for a while, and of its end', async () => {
    await using scene = await begin();
    const { stage } = scene;
    stage.expectErrors('a loop of an account failed', 'Warmwarden restarts the polling', 'could not be restarted');
    scene.fail('new AccountWatch', 'throws', 8);
    scene.fail('api/poll/lane.ts', 'throws');
    await stage.until('the alert', () => stage.notified('account_unguarded').length > 0, 5 * minuteMs);
    await stage.run(10 * minuteMs);
    expect(stage.notified('account_unguarded')).toEqual(['firing', 'resolved']);
    expect([scene.unguarded('agency'), scene.unguarded('second')]).toEqual([null, null]);
  });

  it('begins an account that a reload could not begin', async () => {
    await using scene = await begin();
    scene.stage.expectErrors(
      'account agency could not be started',
      'Warmwarden restarts the polling of an account: its polling did not start',
    );
    scene.fail('new AccountWatch', 'throws');
    const { messages } = await scene.stage.reload((config) => {
      Object.assign(config.accounts[0] ?? {}, { headroom: '20%' });
    });
    expect(messages.at(-1)).toMatch(/^account agency could not be started: /);
    const at = scene.stage.clock.now();
    await scene.stage.run(10 * minuteMs);
    expect(scene.polled(at)).toBeGreaterThanOrEqual(18);
    expect(scene.stage.notified('account_unguarded')).toEqual([]);
  });

  it('shows and tells both accounts when the store hangs in the middle of a write', async () => {
    let hangs = false;
    const works = Promise.withResolvers<void>();
    const openStore: typeof Store.open = async (path, now) => {
      const store = await Store.open(path, now);
      const recordTicks = store.recordTicks.bind(store);
      const recordCalm = store.recordCalm.bind(store);
      store.recordTicks = (records) => (hangs ? works.promise.then(() => recordTicks(records)) : recordTicks(records));
      store.recordCalm = (records) => (hangs ? works.promise.then(() => recordCalm(records)) : recordCalm(records));
      return store;
    };
    await using scene = await begin({ openStore });
    scene.stage.expectErrors(
      'Warmwarden restarts the polling of an account: its time loop is stuck',
      'a loop that hangs was abandoned',
    );
    hangs = true;
    await scene.stage.until('both alerts', () => scene.stage.notified('account_unguarded').length > 1, 15 * minuteMs);
    await scene.stage.run(2 * minuteMs);
    expect(scene.stage.notified('account_unguarded')).toEqual(['firing', 'firing']);
    expect([scene.unguarded('agency'), scene.unguarded('second')]).not.toContain(null);
    hangs = false;
    works.resolve();
  });

  it('takes waiting for turning: nothing due, a full budget, a Retry-After of a quarter of an hour', async () => {
    await using scene = await begin({ account: { plan: undefined, requests_per_minute: 1, headroom: '0%' } });
    const either = () => scene.unguarded('agency') ?? scene.unguarded('second');
    scene.stage.expectErrors('the API reports too many requests');
    scene.stage.simulator.faults.add({ fault: 'retry-after-absurd', times: 3 });
    expect(await scene.stage.clock.advanceUntil(() => either() !== null, 60 * minuteMs)).toBe(false);
    expect(scene.stage.notified('account_unguarded')).toEqual([]);
  });

  it('raises no alarm after the whole process stood still for minutes', async () => {
    const jump = { ms: 0 };
    const clock: MovedOptions['clock'] = (moved) => ({
      ...moved,
      now: () => moved.now() + jump.ms,
      monotonic: () => moved.monotonic() + jump.ms,
    });
    await using scene = await begin({ clock });
    const either = () => scene.unguarded('agency') ?? scene.unguarded('second');
    for (const sinceTheLast of [5, 20, 35, 50, 11, 29]) {
      await scene.stage.run(sinceTheLast * secondMs);
      jump.ms += 2 * minuteMs + 7 * secondMs;
      expect(await scene.stage.clock.advanceUntil(() => either() !== null, 3 * minuteMs)).toBe(false);
    }
    expect(scene.stage.notified('account_unguarded')).toEqual([]);
  });
});
