// The store is kept small while the daemon is on duty: step by step, as configured now, whatever fails.
import { expect, test } from 'vitest';
import type { Retention } from '../../src/core/store-failure.ts';
import { dayMs, hourMs, minuteMs } from '../../src/core/time.ts';
import { clockAheadMs, type UpkeepDuty, type UpkeepPlan, upkeepLoop } from '../../src/store/upkeep.ts';
import { Loops } from '../../src/world/loop.ts';
import { movedClock } from '../../tools/simulator/moved-clock.ts';
import { silentWorld } from '../support/silent-world.ts';

const retentionOf = (days: number): Retention => ({ historyMs: days * dayMs, messagesMs: days * dayMs });

function onDuty(duties: readonly UpkeepDuty[]) {
  const clock = movedClock(0);
  const world = silentWorld(clock);
  const plans: UpkeepPlan[] = [];
  const planned = (plan: UpkeepPlan) => {
    plans.push(plan);
    return duties;
  };
  let days = 1;
  let ahead: number | null = 0;
  const upkeep = upkeepLoop({
    world,
    loops: new Loops(world),
    store: { duties: planned },
    retention: () => retentionOf(days),
    aheadMs: () => ahead,
  });
  upkeep.start();
  return {
    clock,
    plans,
    configure: (other: number) => {
      days = other;
    },
    told: (aheadMs: number | null) => {
      ahead = aheadMs;
    },
    stop: () => upkeep.stop(),
  };
}

/** A duty of so many steps; `fails`: at the first. */
function dutyOf(what: string, steps: number, fails = false) {
  const duty = {
    what,
    done: 0,
    step: async () => {
      if (fails) throw new Error('the disk is full');
      duty.done += 1;
      return duty.done % steps !== 0;
    },
  };
  return duty;
}

test('begins five minutes after the start, does each duty to its end, and again six hours later with the retention of then', async () => {
  const [failing, long] = [dutyOf('one', 3, true), dutyOf('another', 40)];
  const { clock, plans, configure, stop } = onDuty([failing, long]);
  await clock.advance(5 * minuteMs - 1);
  expect([plans.length, long.done]).toEqual([0, 0]);
  await clock.advance(5_000);
  expect(long.done).toBe(40);
  expect(plans).toEqual([{ now: 5 * minuteMs, retention: retentionOf(1) }]);
  configure(2);
  await clock.advance(6 * hourMs);
  expect(long.done).toBe(80);
  expect(plans[1]?.retention).toEqual(retentionOf(2));
  await stop();
});

test('a clock that is ahead makes nothing old: the APIs’ time counts, once one was reached', async () => {
  const { clock, plans, told, stop } = onDuty([dutyOf('one', 1)]);
  told(null);
  await clock.advance(hourMs);
  expect(plans).toEqual([]);
  told(800 * dayMs);
  await clock.advance(minuteMs);
  expect(plans.map(({ now }) => clock.now() - now)).toEqual([800 * dayMs]);
  await stop();
});

const account = (clockAheadMs: number | 'not_told' | null, lastSuccessAt: number | null = 1) => ({
  apiHealth: { status: 'ok', clockAheadMs },
  lastSuccessAt,
});

test.each([
  ['the least that an API says', [account(dayMs), account(hourMs), account('not_told')], hourMs],
  ['nothing when it is behind one of them', [account(-1), account(dayMs)], 0],
  ['nothing when none tells the time', [account('not_told'), account(null)], 0],
  ['nothing without an account', [], 0],
  ['unknown while no API was reached', [account(null, null)], null],
])('how far our clock is ahead: %s', (_, accounts, ahead) => {
  expect(clockAheadMs(accounts)).toBe(ahead);
});
