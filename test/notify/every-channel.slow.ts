// Every kind of channel keeps what the outbox promises: a receiver that is away for a day, wants no more, or is silent loses
// nothing, and nothing older is sent after something newer about the same alert.
import { expect, test } from 'vitest';
import { dayMs, hourMs, minuteMs } from '../../src/model/time.ts';
import { firing, resolved, sampleAlert, start } from '../alert/samples.ts';
import { type ChannelKind, channelFor, channelKinds, openOutside } from './outside.ts';
import { rigWith } from './rig.ts';

const within = 240_000;

async function stage(kind: ChannelKind) {
  let now = () => start;
  const outside = await openOutside(kind, () => now());
  const rig = rigWith((_clock, world) => [channelFor(outside, world)]);
  now = rig.clock.now;
  const end = async () => {
    await rig[Symbol.asyncDispose]();
    await outside[Symbol.asyncDispose]();
  };
  return { outside, rig, [Symbol.asyncDispose]: end };
}

/** An alert with a name of its own, which every channel writes. */
const alert = (number: number) => sampleAlert(number, { account: `team-${number}` });
const isEnd = (text: string) => /"resolve"|alerts\.resolved|Resolved: /.test(text);
const about = (number: number) => (text: string) => new RegExp(`team-${number}\\b`).test(text);

test.concurrent.each(channelKinds)(
  '%s: a receiver that is away for a day gets everything, each alert from its beginning to its end',
  async (kind) => {
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
  },
  within,
);

test.concurrent.each(channelKinds)(
  '%s: what a receiver wants no more is undelivered, visible, and sent again in order when a person says so',
  async (kind) => {
    await using at = await stage(kind);
    const { rig, outside } = at;
    outside.mood('gone');
    rig.commit(firing(alert(1)));
    await rig.clock.advance(hourMs);
    rig.commit(resolved(alert(1), rig.clock.now()));
    await rig.clock.advance(hourMs);
    expect(rig.store.deliveries().map(({ state }) => state)).toEqual(['dead', 'dead']);
    expect([...rig.fleet.channels()][0]).toMatchObject({ undelivered: 2, failingSince: expect.any(Number) });
    const asked = outside.attempts();
    await rig.clock.advance(hourMs);
    expect(outside.attempts()).toBe(asked);
    outside.mood('works');
    const undelivered = await rig.notifier.undelivered.find({ channel: null, delivery: null });
    await rig.notifier.undelivered.resend(undelivered.map(({ id }) => id));
    await rig.clock.advance(hourMs);
    expect(outside.taken().map(isEnd)).toEqual([false, true]);
  },
  within,
);

test.concurrent.each(channelKinds)(
  '%s: a receiver that is silent is left after ten seconds, and gets it when it answers',
  async (kind) => {
    await using at = await stage(kind);
    const { rig, outside } = at;
    outside.mood('silent');
    rig.commit(firing(alert(1)));
    const tried = () => rig.store.deliveries().some(({ attempts }) => attempts === 1);
    expect(await rig.clock.advanceUntil(tried, minuteMs)).toBe(true);
    expect(rig.store.deliveries()[0]).toMatchObject({
      state: 'pending',
      detail: expect.stringContaining('did not answer in time'),
    });
    outside.mood('works');
    await rig.clock.advance(minuteMs);
    expect(rig.store.deliveries().map(({ state }) => state)).toEqual(['sent']);
    expect(outside.taken()).toHaveLength(1);
  },
  within,
);
