// kill -9 at every step of a mute time and of its end: what it keeps back is told once.
import { expect, test } from 'vitest';
import { Store } from '../../src/store/store.ts';
import { leastSteps, lost, never, sendFrom, untoldAlert } from './killed-send.ts';
import { openOutside } from './outside.ts';
import { sendAll } from './sending.ts';

test('what a mute time keeps back is there once, whenever the process dies in it or at its end', async () => {
  await using outside = await openOutside('webhook');
  const { settings: channel } = outside;
  /** Steps of the mute time, and of its end. A process that is killed is followed by one that is not. */
  const nightWith = async (killInMute: string, killAtEnd: string) => {
    const path = await untoldAlert({ severity: 'critical' });
    const before = outside.taken().length;
    const muted = await sendFrom(path, channel, killInMute, 'muted');
    if (muted.killed) await sendFrom(path, channel, never, 'muted');
    expect(outside.taken()).toHaveLength(before);
    const ended = await sendFrom(path, channel, killAtEnd, 'over');
    if (ended.killed) await sendAll(path, channel, () => {}, 'over');
    const after = await Store.open(path, Date.now());
    expect([killInMute, killAtEnd, (await after.outbox.loadNotificationLog()).muted]).toEqual([
      killInMute,
      killAtEnd,
      [],
    ]);
    await after.close();
    return { muted: muted.steps, ended: ended.steps, got: outside.taken().slice(before) };
  };
  const calm = await nightWith(never, never);
  expect([calm.got.length, calm.muted.length > 2, calm.ended.length > leastSteps]).toEqual([1, true, true]);
  for (const step of calm.muted) expect([step, (await nightWith(step, never)).got.length]).toEqual([step, 1]);
  const twice: string[] = [];
  for (const step of calm.ended) {
    const { got } = await nightWith(never, step);
    expect([step, new Set(got).size]).toEqual([step, 1]);
    if (got.length > 1) twice.push(step);
  }
  expect(twice).toEqual(lost);
});
