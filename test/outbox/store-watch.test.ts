// A store that fails: said at once without it, shown, and its end told with its beginning when it works again.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { hourMs, minuteMs, secondMs } from '../../src/core/time.ts';
import { noteOf } from '../../src/store/file/place.ts';
import { start } from '../alerts/samples.ts';
import { startReceiver, status } from './receiver.ts';
import { hookChannel, hookTo, staged as it, rigWith, stage } from './rig.ts';
import { newFile, type TestStore, testStore } from './test-store.ts';

const noAlerts = { changed: [], dropped: [], transitions: [] };
const full = () => new Error('database or disk is full');

it('is told once to each channel while it lasts, stands on the page, and its end is told and recorded', async (at) => {
  const { rig, receiver } = at;
  await rig.clock.advance(minuteMs);
  expect([receiver.received, rig.fleet.storeFailure]).toEqual([[], null]);
  rig.store.broken = full();
  await rig.clock.advance(2 * hourMs);
  expect(at.bodies()).toMatchObject([{ type: 'alerts.firing', data: { rule: 'store_failing', severity: 'critical' } }]);
  expect(receiver.received[0]?.body).toContain('Database or disk is full.');
  expect(receiver.received[0]?.body).toContain('Free space on the disk.');
  expect([...rig.fleet.alerts()]).toMatchObject([{ rule: 'store_failing', status: 'firing' }]);
  expect(rig.fleet.storeFailure).toMatchObject({ said: 'database or disk is full' });
  rig.store.broken = null;
  await rig.clock.advance(2 * minuteMs);
  expect([[...rig.fleet.alerts()], rig.fleet.storeFailure]).toEqual([[], null]);
  expect(at.bodies(1)).toMatchObject([{ type: 'alerts.resolved', data: { rule: 'store_failing', total: 1 } }]);
  expect(rig.store.deliveries().map(({ state }) => state)).toEqual(['sent']);
  await rig.clock.advance(30 * secondMs);
  expect(at.bodies()).toHaveLength(2);
});

test('a delayed route gets it without the store, with the delay, and its end', async () => {
  const routes = [
    { match: {}, channels: ['hook'] },
    { match: {}, channels: ['boss'], unlessAcknowledgedAfterMs: 30 * minuteMs },
  ];
  await using at = await stage({ routes }, {}, (url, clock, second) => [
    hookChannel(url, clock),
    hookChannel(second, clock, 'boss'),
  ]);
  const told = () => at.second.received.map(({ body }) => JSON.parse(body).type);
  at.rig.store.broken = full();
  await at.rig.clock.advance(29 * minuteMs);
  expect([at.bodies().length, told()]).toEqual([1, []]);
  await at.rig.clock.advance(2 * minuteMs);
  expect([at.bodies().length, told()]).toEqual([1, ['alerts.firing']]);
  expect(at.second.received[0]?.body).toContain('Not acknowledged for 30 min.');
  at.rig.store.broken = null;
  await at.rig.clock.advance(2 * minuteMs);
  expect([at.bodies().length, told()]).toEqual([2, ['alerts.firing', 'alerts.resolved']]);
});

it('one write that fails is enough, whoever made it; it is shown, and its end is told, once nothing has failed for half a minute', async (at) => {
  const { rig } = at;
  await rig.clock.advance(10 * secondMs);
  rig.store.broken = full();
  await expect(rig.store.recordAlerts(noAlerts)).rejects.toThrow('full');
  rig.store.broken = null;
  await rig.clock.advance(secondMs);
  const types = () => at.bodies().map(({ type }) => type);
  expect([types(), rig.fleet.storeFailure === null]).toEqual([['alerts.firing'], false]);
  await rig.clock.advance(minuteMs);
  expect([types(), rig.fleet.storeFailure]).toEqual([['alerts.firing', 'alerts.resolved'], null]);
});

it('a store that is reached again is shown as well at once, by the newest cause before, and told so once it stayed well', async (at) => {
  const { rig } = at;
  const types = () => at.bodies().map(({ type }) => type);
  const alerts = () => [...rig.fleet.alerts()].map(({ rule }) => rule);
  rig.store.away = new Error('it does not answer');
  await rig.clock.advance(minuteMs);
  rig.store.away = new Error('it is starting up');
  await rig.clock.advance(minuteMs);
  expect(rig.fleet.storeFailure).toMatchObject({ said: 'it is starting up' });
  rig.store.away = null;
  await rig.clock.advance(10 * secondMs);
  expect([rig.fleet.storeFailure, alerts(), types()]).toEqual([null, ['store_failing'], ['alerts.firing']]);
  rig.store.away = new Error('it does not answer');
  await rig.clock.advance(31 * secondMs);
  expect(rig.fleet.storeFailure).not.toBe(null);
  rig.store.away = null;
  await rig.clock.advance(3 * minuteMs);
  expect([rig.fleet.storeFailure, alerts(), types()]).toEqual([null, [], ['alerts.firing', 'alerts.resolved']]);
});

test('a channel that is down when it begins gets the message when it is back, under the same id, and the others do not get it again', async () => {
  await using up = await startReceiver();
  await using down = await startReceiver();
  down.answer = status(503);
  await using rig = rigWith((clock) => [hookChannel(up.url, clock, 'up'), hookChannel(down.url, clock, 'down')]);
  rig.store.broken = full();
  await rig.clock.advance(5 * minuteMs);
  down.answer = status(204);
  await rig.clock.advance(hourMs);
  const ids = new Set(down.received.map(({ headers, body }) => `${headers['webhook-id']} ${body}`));
  expect([up.received.length, ids.size]).toEqual([1, 1]);
  const triedUntilTaken = down.received.length;
  rig.store.broken = null;
  await rig.clock.advance(3 * minuteMs);
  const last = [up, down].map(({ received }) => JSON.parse(received.at(-1)?.body ?? '{}').type);
  expect(last).toEqual(['alerts.resolved', 'alerts.resolved']);
  expect([up.received.length, down.received.length]).toEqual([2, triedUntilTaken + 1]);
});

it('after the process stood still, a lost connection is announced when it lasts for a quarter of a minute, and a full disk at once', async (at) => {
  const { rig } = at;
  const said = () =>
    at.receiver.received.map(({ body }) => /Query read timeout|Database or disk is full/.exec(body)?.[0]);
  const wake = () =>
    Object.defineProperty(rig.loops, 'awakeSince', { value: rig.clock.monotonic(), configurable: true });
  const fail = async (forMs: number) => {
    await rig.store.recordAlerts(noAlerts).catch(() => {});
    await rig.clock.advance(forMs);
  };
  await rig.clock.advance(10 * secondMs);
  wake();
  rig.store.away = new Error('Query read timeout');
  await fail(8 * secondMs);
  rig.store.away = null;
  await rig.clock.advance(5 * minuteMs);
  expect(said()).toEqual([]);
  wake();
  rig.store.away = new Error('Query read timeout');
  await fail(14 * secondMs);
  expect(said()).toEqual([]);
  await rig.clock.advance(10 * secondMs);
  expect(said()).toEqual(['Query read timeout']);
  rig.store.away = null;
  await rig.clock.advance(10 * minuteMs);
  wake();
  rig.store.broken = full();
  await fail(secondMs);
  expect(said()).toEqual(['Query read timeout', undefined, 'Database or disk is full']);
});

test('a digest that a channel did not take is sent while the store fails: it is not the end of an outage', async () => {
  const store = testStore();
  await store.outbox.recordDigest({ deliveries: [], until: start - 24 * hourMs });
  const digest = { match: {}, at: '0 8 * * *', timeZone: 'UTC', channels: ['hook'] };
  await using at = await stage({ digests: [digest] }, { store });
  const { rig, receiver } = at;
  receiver.answer = status(503);
  await rig.clock.advance(minuteMs);
  expect(store.deliveries()).toMatchObject([{ group: 'digest', state: 'pending' }]);
  store.full = full();
  await expect(store.recordAlerts(noAlerts)).rejects.toThrow('full');
  receiver.answer = status(204);
  const before = receiver.received.length;
  await rig.clock.advance(2 * hourMs);
  const types = at.bodies(before).map(({ type }) => type);
  expect(types.toSorted()).toEqual(['alerts.firing', 'digest']);
});

it('what fails now and then is one alert before long, and one relapse a day is not', async ({ rig, receiver }) => {
  const failEvery = async (ms: number, times: number) => {
    const before = receiver.received.length;
    for (let count = 0; count < times; count += 1) {
      rig.store.broken = full();
      await rig.store.recordAlerts(noAlerts).catch(() => {});
      rig.store.broken = null;
      await rig.clock.advance(ms);
    }
    return receiver.received.length - before;
  };
  expect(await failEvery(5 * minuteMs, 20)).toBeLessThan(8);
  expect([...rig.fleet.alerts()]).toHaveLength(1);
  await rig.clock.advance(3 * hourMs);
  expect(await failEvery(24 * hourMs, 3)).toBe(6);
});

/** A process on the store of that file for a while; what the webhook received meanwhile. */
async function processOn(path: string, at: number, forMs: number, meanwhile = (_: TestStore) => {}) {
  const store = testStore(path);
  await using on = await stage({}, { store, at });
  await on.rig.clock.advance(45 * secondMs);
  meanwhile(store);
  await on.rig.clock.advance(forMs);
  await store.close();
  return on.bodies().map(({ type, data }) => `${type} ${data.rule}`);
}

describe('when the repair is a restart', () => {
  const notified = 'alerts.firing store_failing';
  const ended = 'alerts.resolved store_failing';
  const breaks = (store: TestStore) => void Object.assign(store, { full: full() });
  const begun = async () => {
    const path = newFile();
    expect(await processOn(path, start, 5 * minuteMs, breaks)).toEqual([notified]);
    return path;
  };

  test.each<[string, (path: string) => void]>([
    ['the process that finds the store working tells the end, once', () => {}],
    ['so does one that finds another, empty store, and no later one', rmSync],
  ])('%s', async (_, repair) => {
    const path = await begun();
    repair(path);
    expect(await processOn(path, start + hourMs, 5 * minuteMs)).toEqual([ended]);
    expect(await processOn(path, start + 2 * hourMs, hourMs)).toEqual([]);
  });

  test('an end that was recorded is not announced again when the note of its beginning is still there', async () => {
    const path = await begun();
    const note = readFileSync(noteOf(path));
    expect(await processOn(path, start + hourMs, 5 * minuteMs)).toEqual([ended]);
    writeFileSync(noteOf(path), note);
    expect(await processOn(path, start + 2 * hourMs, hourMs)).toEqual([]);
  });

  test('a store that fails again within the minute is told neither as working nor as failing again', async () => {
    const path = await begun();
    expect(await processOn(path, start + hourMs, 10 * minuteMs, breaks)).toEqual([]);
    expect(await processOn(path, start + 2 * hourMs, 5 * minuteMs)).toEqual([ended]);
  });

  test('a channel that has not taken it is told by the next process while the store fails, under the same id', async () => {
    const path = newFile();
    await using down = await startReceiver();
    down.answer = status(503);
    const ids = () => new Set(down.received.map(({ headers, body }) => `${headers['webhook-id']} ${body}`));
    for (const at of [start, start + hourMs]) {
      const store = testStore(path);
      await using rig = rigWith(hookTo(down.url), {}, { store, at });
      breaks(store);
      await rig.clock.advance(5 * minuteMs);
      down.answer = status(204);
      await store.close();
    }
    expect([ids().size, JSON.parse(down.received.at(-1)?.body ?? '').type]).toEqual([1, 'alerts.firing']);
  });
});
