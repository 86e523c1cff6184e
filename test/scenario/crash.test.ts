// docs/faults.md O3: a part of Warmwarden that stops ends the process, people are notified, and the next process guards again.
import { fdatasync } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect, it, vi } from 'vitest';
import { minuteMs, secondMs } from '../../src/core/time.ts';
import { Digester } from '../../src/outbox/digest.ts';
import { Store } from '../../src/store/store.ts';
import { lookEveryMs } from '../../src/world/loop.ts';
import type { Clock } from '../../src/world/world.ts';
import { amelia, oliver, stormOf } from '../account/duty.ts';
import { failWrites } from '../support/failing-writes.ts';
import { type MovedOptions, startMovedDaemon } from './moved-daemon.ts';

/** `throws`: whatever it asks. `hangs`: its next sleep never ends, not even when it is aborted. */
type ClockFault = 'throws' | 'hangs';

/** A clock that fails the next call that comes straight from a place in the sources, as a stack names it (`api/poll/lane.ts`). */
function faultyClock(clock: Clock) {
  const faults: { place: string; fault: ClockFault }[] = [];
  /** The fault that waits for whoever is calling. */
  const met = (...kinds: readonly ClockFault[]): ClockFault | undefined => {
    const stack = new Error('who asks?').stack ?? '';
    const found = faults.findIndex(({ place, fault }) => kinds.includes(fault) && stack.includes(place));
    return found < 0 ? undefined : faults.splice(found, 1)[0]?.fault;
  };
  const read = (read: () => number) => {
    if (met('throws')) throw new Error('the clock fails on purpose');
    return read();
  };
  return {
    now: () => read(clock.now),
    monotonic: () => read(clock.monotonic),
    sleep(ms: number, signal?: AbortSignal): Promise<void> {
      const fault = met('throws', 'hangs');
      if (fault === 'throws') throw new Error('the clock fails on purpose');
      return fault === 'hangs' ? new Promise(() => {}) : clock.sleep(ms, signal);
    },
    busy: clock.busy,
    fail: (place: string, fault: ClockFault) => void faults.push({ place, fault }),
  };
}

const poll = { health: '* * * * *', mailboxes: '* * * * *', stats: '*/10 * * * *', warmup: '*/30 * * * *' };

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
  return {
    stage,
    fail: (place: string, fault: ClockFault) => faulty.fail(place, fault),
    /** How often mailboxes were listed since then. */
    listed: (since: number) =>
      stage.simulator.requests.filter(({ at, path }) => at > since && path === '/v1/mailboxes').length,
    /** Gives the process time to close what it has. */
    crashed: (times: number) =>
      vi.waitFor(() => stage.run(secondMs).then(() => expect(stage.crashes).toHaveLength(times)), 15_000),
    [Symbol.asyncDispose]: () => stage[Symbol.asyncDispose](),
  };
}

/** Where each loop of an account asks the clock. */
const places = { request: 'api/poll/lane.ts', time: '#keepTime' } as const;
const [throws, hangs] = [
  { fault: 'throws', withinMs: minuteMs },
  { fault: 'hangs', withinMs: 2 * minuteMs },
] as const;
const stops = (['request', 'time'] as const).flatMap((loop) => [
  { loop, ...throws, why: `its ${loop} loop ended with an error` },
  { loop, ...hangs, why: `its ${loop} loop has been stuck for a minute` },
]);

describe('a crash', () => {
  it.each(stops)('is what a $loop loop that $fault leads to; the next process guards again', async (stop) => {
    await using scene = await begin();
    const { stage } = scene;
    stage.expectErrors('a loop of an account failed', 'Warmwarden ends', 'a loop that hangs was abandoned');
    scene.fail(places[stop.loop], stop.fault);
    await stage.until('the end of the process', () => stage.errorsSaying('Warmwarden ends').length > 0, stop.withinMs);
    await scene.crashed(1);
    expect(stage.crashes[0]).toMatch(new RegExp(`^account (agency|second): ${stop.why}$`));
    await stage.restart();
    const at = stage.clock.now();
    await stage.run(10 * minuteMs);
    expect(await stage.readyz()).toBe('200 ready');
    expect(scene.listed(at)).toBeGreaterThanOrEqual(18);
    expect(stage.notified('crashed')).toEqual(['firing', 'resolved']);
    expect(stage.crashes).toHaveLength(1);
  });

  it('is what a disk leads to that did not take what was committed; people are notified first', async () => {
    const disk = { isBroken: false };
    const sync = async (fd: number) => {
      if (disk.isBroken) throw new Error('EIO: i/o error, fdatasync');
      await promisify(fdatasync)(fd);
    };
    const openStore: typeof Store.open = (path, now, options) => Store.open(path, now, { ...options, sync });
    await using scene = await begin({ openStore });
    const { stage } = scene;
    stage.expectErrors('The store is failing', 'could not be', 'Warmwarden ends', 'failed: Warmwarden retries');
    disk.isBroken = true;
    await stage.until('the end of the process', () => stage.errorsSaying('Warmwarden ends').length > 0, minuteMs);
    await scene.crashed(1);
    expect(stage.crashes[0]).toBe('the disk did not store the newest changes: EIO: i/o error, fdatasync');
    expect(stage.notified('store_failing')).toEqual(['firing']);
    disk.isBroken = false;
    await stage.restart();
    await stage.run(10 * minuteMs);
    expect([await stage.readyz(), stage.notified('store_failing')]).toEqual(['200 ready', ['firing', 'resolved']]);
  });

  it('keeps no other account unguarded: an account that stops at each start is left out for an hour', async () => {
    await using scene = await begin();
    const { stage } = scene;
    stage.expectErrors('a loop of an account failed', 'Warmwarden ends', 'an account has stopped');
    // The account that begins first is the first to ask the clock.
    scene.fail(places.request, 'throws');
    await scene.crashed(1);
    scene.fail(places.request, 'throws');
    await stage.restart();
    const at = stage.clock.now();
    await stage.run(30 * minuteMs);
    expect(await stage.readyz()).toMatch(
      /^503 .*account agency has stopped: it is not guarded.*account agency: its request loop ended/s,
    );
    expect(scene.listed(at)).toBeGreaterThanOrEqual(28);
    expect([stage.crashes.length, stage.notified('crashed')]).toEqual([1, ['firing']]);
    await stage.run(30 * minuteMs);
    await scene.crashed(2);
    await stage.restart();
    await stage.run(10 * minuteMs);
    expect(await stage.readyz()).toBe('200 ready');
    expect(stage.notified('crashed')).toEqual(['firing', 'resolved']);
  });

  it('is what a task that throws leads to after three minutes, and one that crashes again is no new alert', async () => {
    using _ = vi.spyOn(Digester.prototype, 'step').mockRejectedValue(new Error('a mistake of ours'));
    await using scene = await begin();
    const { stage } = scene;
    stage.expectErrors('Warmwarden ends', 'sending the digests failed');
    for (const crashes of [1, 2]) {
      await stage.until('the end', () => stage.errorsSaying('Warmwarden ends').length === crashes, 4 * minuteMs);
      await scene.crashed(crashes);
      await stage.restart();
    }
    expect(stage.crashes[1]).toBe('sending the digests has failed for minutes');
    expect(stage.notified('crashed')).toEqual(['firing']);
  });

  it('is what a reload that fails halfway leads to; the next process starts with the new file', async () => {
    await using scene = await begin();
    const { stage } = scene;
    stage.expectErrors('Warmwarden ends, and a restart repairs it: a reload failed halfway');
    scene.fail('new AccountWatch', 'throws');
    const said = await stage.reload((config) => {
      Object.assign(config.accounts[0] ?? {}, { headroom: '20%' });
    });
    expect(said).toEqual({ result: 'failed', messages: [expect.stringContaining('failed halfway')] });
    await scene.crashed(1);
    await stage.restart();
    const at = stage.clock.now();
    await stage.run(10 * minuteMs);
    expect(scene.listed(at)).toBeGreaterThanOrEqual(18);
    expect(stage.notified('crashed')).toEqual(['firing', 'resolved']);
  });

  it('is not what a store that fails leads to', async () => {
    await using scene = await begin({ expectErrors: [''] });
    using _ = failWrites(() => true);
    await scene.stage.run(15 * minuteMs);
    expect(scene.stage.crashes).toEqual([]);
  });

  it('is not what waiting leads to: nothing due, a full budget, a Retry-After of a quarter of an hour', async () => {
    await using scene = await begin({ account: { plan: undefined, requests_per_minute: 1, headroom: '0%' } });
    scene.stage.expectErrors('the API reports too many requests');
    scene.stage.simulator.faults.add({ fault: 'retry-after-absurd', times: 3 });
    await scene.stage.run(60 * minuteMs);
    expect(scene.stage.crashes).toEqual([]);
  });

  it('is not what a process that stood still for minutes, again and again, leads to', async () => {
    const jump = { ms: 0 };
    const clock: MovedOptions['clock'] = (moved) => ({
      ...moved,
      now: () => moved.now() + jump.ms,
      monotonic: () => moved.monotonic() + jump.ms,
    });
    await using scene = await begin({ clock });
    for (const sinceTheLast of [5, 20, 35, 50, 11, 29]) {
      await scene.stage.run(sinceTheLast * secondMs);
      jump.ms += 2 * minuteMs + 7 * secondMs;
      await scene.stage.run(3 * minuteMs);
    }
    await scene.stage.run(lookEveryMs);
    expect(scene.stage.crashes).toEqual([]);
  });
});
