// The recipe channel: an alert starts one run and no second one, and its run is followed to its end, restarts or not.

import { expect, test } from 'vitest';
import { recipeChannel } from '../../src/channels/recipe.ts';
import { hourMs, minuteMs, secondMs } from '../../src/core/time.ts';
import type { World } from '../../src/world/world.ts';
import { firing, resolved, sampleAlert } from '../alerts/samples.ts';
import { resend } from '../operations/rooms.ts';
import { rigWith } from '../outbox/rig.ts';
import { testStore } from '../outbox/test-store.ts';
import { RecipeHost } from '../support/recipe-service.ts';

const posts = (host: RecipeHost) => host.of('POST', /runs$/).length;
const reads = (host: RecipeHost) => host.of('GET', /\/runs\//).length;

const settingsFor = ({ baseUrl, key }: RecipeHost) => {
  return { name: 'fix', baseUrl, apiKey: key, recipe: 'at-risk', apply: true };
};

function fixWith(host: RecipeHost, store = testStore()) {
  return rigWith((_clock, world: World) => [recipeChannel(settingsFor(host), world)], {}, { store });
}

test('an alert starts one run, which is followed until it has ended; its end and reminders start none', async () => {
  await using host = await RecipeHost.start();
  const running = { status: 200, body: { id: 'run-1', status: 'running' } };
  const over = { status: 200, body: { id: 'run-1', status: 'succeeded', rows: [{}, {}] } };
  host.run = RecipeHost.inTurn(running, { status: 200, body: 'busy' }, running, over);
  await using rig = fixWith(host);
  rig.commit(firing(sampleAlert(1)));
  await rig.clock.advance(32 * secondMs);
  expect(rig.store.deliveries()[0]).toMatchObject({
    state: 'accepted',
    attempts: 0,
    detail: 'run run-1 is still running: its status is queued',
  });
  await rig.clock.advance(minuteMs);
  expect(rig.store.deliveries()[0]).toMatchObject({ state: 'sent', detail: 'run run-1 succeeded with 2 rows' });
  expect(host.of('POST', /at-risk/).map(({ body }) => JSON.parse(body))).toEqual([{ parameters: {}, apply: true }]);
  expect([posts(host), reads(host)]).toEqual([1, 4]);
  rig.commit({ ...firing(sampleAlert(1)), kind: 'reminder' }, resolved(sampleAlert(1), rig.clock.now()));
  await rig.clock.advance(hourMs);
  expect(posts(host)).toBe(1);
  expect(rig.tallied).toEqual(['fix sent']);
});

test('a trigger whose answer was lost may have started a run, and is never sent again by itself', async () => {
  await using host = await RecipeHost.start();
  host.trigger = () => 'lost';
  await using rig = fixWith(host);
  rig.commit(firing(sampleAlert(1)));
  await rig.clock.advance(2 * hourMs);
  expect(posts(host)).toBe(1);
  expect(rig.store.deliveries()[0]).toMatchObject({ state: 'undelivered', attempts: 1 });
  expect(rig.store.deliveries()[0]?.detail).toContain(
    'a run of at-risk may have started, so Warmwarden does not start it again',
  );
  expect([...rig.fleet.channels()][0]).toMatchObject({ undelivered: 1 });
  host.trigger = () => ({ status: 202, body: { id: 'run-2', status: 'succeeded' } });
  await resend(rig.notifier.undelivered, { channel: 'fix' });
  await rig.clock.advance(minuteMs);
  expect(rig.store.deliveries()[0]).toMatchObject({ state: 'sent' });
  expect(posts(host)).toBe(2);
});

test('a trigger that a killed daemon had begun is not sent again; a run that it knew is followed', async () => {
  await using host = await RecipeHost.start();
  const store = testStore();
  const made = ['begun', 'known'].map((id) => {
    return { id, channel: 'fix', group: id, payload: '{}', title: id, alerts: [id] };
  });
  await store.outbox.recordDeliveries({ transitionIds: [], deliveries: made, now: 0 });
  await store.outbox.beginDelivery('begun', 0);
  const receipt = JSON.stringify({ run: 'run-7', startedAt: 0 });
  await store.outbox.settleDelivery('known', { kind: 'accepted', receipt, nextAttemptAt: 0, detail: null, at: 0 });
  await using rig = fixWith(host, store);
  await rig.clock.advance(minuteMs);
  expect(posts(host)).toBe(0);
  expect(host.of('GET', /run-7$/)).toHaveLength(1);
  expect(store.deliveries().map(({ state, detail }) => [state, detail])).toEqual([
    ['undelivered', 'Warmwarden ended while it was sending; it may have arrived, so Warmwarden does not send it again'],
    ['sent', 'run run-1 succeeded with 1 row'],
  ]);
});

test('what surely started nothing is tried again, when and as often as the answer allows', async () => {
  await using host = await RecipeHost.start();
  host.trigger = RecipeHost.inTurn(
    { status: 429, body: { error: 'slow down' }, headers: { 'retry-after': '120' } },
    { status: 403, body: { error: 'no' } },
    { status: 202, body: { run: 'run-1' } },
  );
  await using rig = fixWith(host);
  rig.commit(firing(sampleAlert(1)));
  await rig.clock.advance(2 * minuteMs);
  expect(posts(host)).toBe(1);
  await rig.clock.advance(5 * minuteMs);
  expect(posts(host)).toBe(3);
  expect(rig.store.deliveries()[0]).toMatchObject({ state: 'sent' });
});

test('a run that failed is given up and says why, and one without an end is let go after an hour', async () => {
  await using host = await RecipeHost.start();
  host.run = () => ({ status: 200, body: { id: 'run-1', status: 'failed', error: 'no such mailbox' } });
  await using rig = fixWith(host);
  rig.commit(firing(sampleAlert(1)));
  await rig.clock.advance(minuteMs);
  expect(rig.store.deliveries()[0]).toMatchObject({
    state: 'undelivered',
    detail: 'run run-1 failed: no such mailbox',
  });
  host.run = () => ({ status: 200, body: { id: 'run-1', status: 'pondering' } });
  rig.commit(firing(sampleAlert(2)));
  await rig.clock.advance(2 * hourMs);
  expect(rig.store.deliveries()[1]).toMatchObject({ state: 'sent' });
  expect(rig.store.deliveries()[1]?.detail).toMatch(/pondering.*Warmwarden stopped following it after an hour/);
});

test('trying it out asks for the recipe and starts nothing; the key is in no sentence', async () => {
  await using host = await RecipeHost.start();
  await using rig = rigWith(() => []);
  const world = { clock: rig.clock, random: () => 0.5, log: rig.log };
  const said = async (change: object) => {
    const channel = recipeChannel({ ...settingsFor(host), ...change }, world);
    const result = await channel.check?.(AbortSignal.timeout(120_000));
    await channel.close?.();
    return [result?.kind, result?.detail];
  };
  expect(await said({})).toEqual(['sent', 'the service answers and has the recipe at-risk. The test did not start it']);
  expect(await said({ recipe: 'at-rsk' })).toEqual(['refused', 'the service has no recipe at-rsk. It has at-risk']);
  const [kind, detail] = await said({ apiKey: 'rk_wrong_key_0123456789' });
  expect([kind, detail?.includes('rk_wrong')]).toEqual(['refused', false]);
  expect(posts(host)).toBe(0);
});
