// A mailbox whose status and connection come and go every few minutes: it is said once that they do, and once that they are calm;
// and a receiver that keeps alerts open is told of an end at once. The API is not the simulator.
import { afterEach, expect, test } from 'vitest';
import { pagerdutyChannel } from '../../src/channels/pagerduty.ts';
import type { Alert, Transition } from '../../src/core/alert.ts';
import { minuteMs } from '../../src/core/time.ts';
import { amelia, stormOf } from '../account/duty.ts';
import { firing, resolved, sampleAlert } from '../alerts/samples.ts';
import { people } from '../channels/people.ts';
import { startReceiver, status } from '../outbox/receiver.ts';
import { hookChannel, rigWith } from '../outbox/rig.ts';
import { startMovedDaemon } from '../scenario/moved-daemon.ts';
import { OtherApi } from '../support/other-api.ts';

const everyFewSeconds = '*/10 * * * * *';
const poll = { mailboxes: everyFewSeconds, mailbox: everyFewSeconds, stats: '*/10 * * * *', warmup: '*/10 * * * *' };
const toggleMs = 3 * minuteMs;

const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one[Symbol.asyncDispose]();
});

async function stage() {
  const other = await OtherApi.start();
  open.push(other);
  const [box] = [other.add('mail@toggling.example')];
  const daemon = await startMovedDaemon({
    scenario: stormOf(amelia),
    poll,
    account: { base_url: other.url, api_key: other.addKey() },
    expectErrors: ['The API'],
  });
  open.push(daemon);
  other.now = daemon.clock.now;
  await daemon.run(10 * minuteMs);
  daemon.receiver.notified.splice(0);
  const breaks = (isBroken: boolean) =>
    Object.assign(box, {
      status: isBroken ? 'suspended' : 'active',
      connectionError: isBroken ? 'IMAP login failed' : null,
    });
  const toggles = async (times: number) => {
    for (let time = 0; time < times; time += 1) {
      breaks(time % 2 === 0);
      await daemon.run(toggleMs);
    }
  };
  const messages = () =>
    daemon.receiver.notified.map(({ text }) => {
      const { type, data } = JSON.parse(text) as { type: string; data: { title: string } };
      return `${type}: ${data.title}`;
    });
  const firing = () =>
    [...daemon.fleet().alerts()].filter((alert) => alert.status === 'firing').map(({ facts }) => facts.title);
  return { daemon, box, breaks, toggles, messages, firing };
}

test('forty minutes of toggling are a few messages, and one end after half an hour of calm', async () => {
  const { daemon, toggles, messages, firing } = await stage();
  await toggles(14);
  const told = messages();
  expect(told.slice(0, 2).every((line) => line.startsWith('alerts.firing'))).toBe(true);
  expect(told.filter((line) => line.includes('unstable'))).toHaveLength(1);
  expect(told.length).toBeLessThanOrEqual(5);
  // It is calm for the moment, and the page says that it is unstable.
  expect(firing().filter((title) => title.includes('unstable'))).toHaveLength(2);
  await daemon.run(25 * minuteMs);
  expect([messages().length, firing().length]).toEqual([told.length, 2]);
  await daemon.run(15 * minuteMs);
  expect(messages().slice(told.length)).toEqual([expect.stringMatching(/^alerts\.resolved: .*(?<!unstable)$/)]);
  expect(firing()).toEqual([]);
});

test('the first message comes at once, and an action is told whatever flaps', async () => {
  const { daemon, box, breaks, toggles, messages } = await stage();
  breaks(true);
  await daemon.run(minuteMs);
  expect(messages().filter((line) => line.includes('disconnected'))).toHaveLength(1);
  await toggles(8);
  const before = messages().length;
  box.days = [0, 1, 2, 3, 4, 5, 6].map((daysAgo) => ({ daysAgo, sent: 20, bounced: daysAgo === 0 ? 11 : 0 }));
  box.status = 'active';
  await daemon.run(15 * minuteMs);
  expect(messages().slice(before).join()).toMatch(/warm-up paused/);
});

test.each([
  ['before its group is due', 2 * minuteMs],
  ['when its group is due', 5.3 * minuteMs],
  ['after its group was due', 7 * minuteMs],
])('PagerDuty: what ends after a minute and fires again %s is open', async (_when, againMs) => {
  const pager = await startReceiver();
  const hook = await startReceiver();
  open.push(pager, hook);
  pager.answer = status(202);
  await using rig = rigWith((clock) => [
    hookChannel(hook.url, clock),
    pagerdutyChannel({ name: 'pager', url: pager.url, routingKey: 'R'.repeat(32), ...people }, clock),
  ]);
  const alert = sampleAlert(1, { rule: 'guard_held' });
  const change = (one: Alert, ...transitions: readonly Transition[]) => {
    rig.fleet.putAlert(one);
    rig.commit(...transitions);
  };
  change(alert, firing(alert));
  await rig.clock.advance(minuteMs);
  const end = resolved(alert, rig.clock.now());
  change(end.alert, end);
  await rig.clock.advance(againMs - minuteMs);
  const again = { ...alert, since: rig.clock.now(), firingAt: rig.clock.now() };
  change(again, { ...firing(again), at: rig.clock.now() });
  await rig.clock.advance(10 * minuteMs);
  expect(pager.received.map(({ body }) => JSON.parse(body).event_action)).toEqual(['trigger', 'resolve', 'trigger']);
  expect(rig.store.unnotified()).toBe(0);
});
