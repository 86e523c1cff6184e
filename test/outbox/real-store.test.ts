// The notifier on the store that the daemon uses: a restart in the middle loses nothing and repeats no success.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { createChannel } from '../../src/channels/channels.ts';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import { defaultRuleSettings } from '../../src/core/rule-settings.ts';
import { minuteMs, secondMs } from '../../src/core/time.ts';
import { createNotifier } from '../../src/outbox/notifier.ts';
import { Store } from '../../src/store/store.ts';
import { Loops } from '../../src/world/loop.ts';
import { type MovedClock, movedClock } from '../../src/world/world.ts';
import { firing, sampleAlert, start } from '../alerts/samples.ts';
import { expectNoSleepers } from '../support/sleepers.ts';
import { startReceiver, status } from './receiver.ts';

function notifierOn(store: Store, clock: MovedClock, url: string) {
  const tally = { decision: () => {}, action: () => {}, request: () => {}, notification: () => {} };
  const secrets = ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'];
  const hook = { name: 'hook', type: 'webhook', url, secrets, format: 'standard' } as const;
  const world = { clock, random: () => 0.5, log: pino({ level: 'silent' }), command: 'warmwarden' };
  return createNotifier({
    world,
    loops: new Loops(world),
    store,
    fleet: new Fleet(),
    tally,
    channels: [createChannel(hook, { world, pageUrl: null, publicUrl: null, timeZone: () => 'UTC' })],
    settings: {
      rules: defaultRuleSettings,
      digest: null,
      heartbeat: null,
      groupWaitMs: 30 * secondMs,
      groupIntervalMs: 5 * minuteMs,
      repeatIntervalMs: { critical: null, warning: null, info: null },
      routes: [],
    },
    pageUrl: null,
    apiOf: () => null,
  });
}

test('a restart between two messages: the first is not repeated, the second keeps its id and its bytes', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'warmwarden-notify-'));
  await using receiver = await startReceiver(() => 0);
  receiver.answer = (response, { body }) =>
    response.writeHead(JSON.parse(body).data.account === 'one' ? 200 : 503).end();
  const clock = movedClock(start);
  const path = join(folder, 'warmwarden.db');
  let store = await Store.open(path, clock.now());
  const alerts = [sampleAlert(1, { account: 'one' }), sampleAlert(1, { account: 'two' })];
  const transitions = alerts.map((alert) => firing(alert));
  await store.recordAlerts({ changed: alerts, dropped: [], transitions });
  const first = notifierOn(store, clock, receiver.url);
  first.start();
  await clock.advance(31 * secondMs);
  await first.stop();
  await store.close();
  expect(receiver.received.map(({ body }) => JSON.parse(body).data.account).slice(0, 2)).toEqual(['one', 'two']);
  receiver.answer = status(200);
  store = await Store.open(path, clock.now());
  const second = notifierOn(store, clock, receiver.url);
  second.start();
  await clock.advance(minuteMs);
  await second.stop();
  const [, failed] = receiver.received;
  const last = receiver.received.at(-1);
  expect(receiver.received.filter(({ body }) => JSON.parse(body).data.account === 'one')).toHaveLength(1);
  expect([last?.body, last?.headers['webhook-id']]).toEqual([failed?.body, failed?.headers['webhook-id']]);
  expect((await store.outbox.recentDeliveries(10)).map(({ state }) => state)).toEqual(['sent', 'sent']);
  expect(await store.outbox.outboxState(0)).toEqual([]);
  expect(await store.outbox.unnotifiedTransitions(10)).toEqual([]);
  await store.close();
  await rm(folder, { recursive: true });
  expectNoSleepers(clock);
});
