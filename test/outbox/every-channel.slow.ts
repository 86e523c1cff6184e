// Every kind of channel keeps what the outbox promises: a receiver that is away for a day or wants no more for longer loses nothing without a
// mark, and nothing older is sent after something newer about the same alert. Silent ones: slow-receivers.test.ts in test/habits.
import { expect, test } from 'vitest';
import type { Channel } from '../../src/channels/channel.ts';
import { dayMs, hourMs, minuteMs } from '../../src/core/time.ts';
import { firing, resolved, sampleAlert } from '../alerts/samples.ts';
import { ending } from '../support/ending.ts';
import { type ChannelKind, channelFor, channelKinds, openOutside } from './outside.ts';
import { rigWith } from './rig.ts';

const eachKind = test.each(channelKinds);

async function stage(kind: ChannelKind, change: Partial<Channel> = {}) {
  const outside = await openOutside(kind);
  const rig = rigWith((_clock, world) => [{ ...channelFor(outside, world), ...change }]);
  return { outside, rig, ...ending(rig, outside) };
}

/** An alert with a name of its own, which every channel writes. */
const alert = (number: number) => sampleAlert(number, { account: `team-${number}` });
const isEnd = (text: string) => /"resolve"|alerts\.resolved|Resolved: /.test(text);
const about = (number: number) => (text: string) => new RegExp(`team-${number}\\b`).test(text);

eachKind('%s: a receiver that is away for a day gets everything, each alert from begin to end', async (kind) => {
  await using at = await stage(kind);
  const { rig, outside } = at;
  outside.mood('away');
  for (let number = 1; number <= 4; number += 1) {
    rig.commit(firing(alert(number), rig.clock.now()));
    await rig.clock.advance(5 * hourMs);
    if (number < 4) rig.commit(resolved({ ...alert(number), firingAt: rig.clock.now() }, rig.clock.now()));
  }
  await rig.clock.advance(dayMs - 20 * hourMs - 10 * minuteMs);
  expect(outside.taken()).toEqual([]);
  expect(rig.store.deliveries().map(({ state }) => state)).toEqual(Array.from({ length: 7 }, () => 'pending'));
  outside.mood('works');
  await rig.clock.advance(hourMs);
  expect(rig.store.deliveries().map(({ state }) => state)).toEqual(Array.from({ length: 7 }, () => 'sent'));
  expect(outside.taken()).toHaveLength(7);
  for (let number = 1; number <= 4; number += 1) {
    const said = outside.taken().filter(about(number)).map(isEnd);
    expect([number, said]).toEqual([number, number < 4 ? [false, true] : [false]]);
  }
});

eachKind('%s: what a receiver wants no more is undelivered, visible, and sent when a person says so', async (kind) => {
  await using at = await stage(kind);
  const { rig, outside } = at;
  outside.mood('gone');
  rig.commit(firing(alert(1)));
  await rig.clock.advance(hourMs);
  rig.commit(resolved(alert(1), rig.clock.now()));
  await rig.clock.advance(dayMs + 3 * hourMs);
  expect(rig.store.deliveries().map(({ state }) => state)).toEqual(['undelivered', 'undelivered']);
  expect([...rig.fleet.channels()][0]).toMatchObject({ undelivered: 2, failingSince: expect.any(Number) });
  const asked = outside.attempts();
  await rig.clock.advance(hourMs);
  expect(outside.attempts()).toBe(asked);
  outside.mood('works');
  const undelivered = await rig.notifier.undelivered.find({ channel: null, delivery: null });
  await rig.notifier.undelivered.resend(undelivered.map(({ id }) => id));
  await rig.clock.advance(hourMs);
  expect(outside.taken().map(isEnd)).toEqual([false, true]);
});
