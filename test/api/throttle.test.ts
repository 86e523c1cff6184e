// What an account gives up when the API says that it is asked too often. docs/faults.md H10, H12, H13.
import { expect, test } from 'vitest';
import { Budget } from '../../src/api/budget.ts';
import { Throttle } from '../../src/api/throttle.ts';
import { hourMs } from '../../src/core/time.ts';

const minute = 60_000;
const half = () => 0.5;

test('H10: a 429 without Retry-After stops the account for a window and a bit', () => {
  const budget = new Budget({ requestsPerMinute: 100, headroomPpm: 0 });
  budget.throttled('stats', null, 0, half);
  expect(budget.nextStartAt(0)).toBeGreaterThanOrEqual(minute);
  expect(budget.nextStartAt(0)).toBeLessThanOrEqual(minute + 5_000);
});

/** 429s of ever other kinds, so that each is about the key. */
function throttledAt(...minutes: readonly number[]): Throttle {
  const throttle = new Throttle();
  for (const [index, at] of minutes.entries()) {
    const kind = index % 2 === 0 ? 'stats' : 'warmup';
    throttle.throttled({ kind, retryAfterMs: 1_000, startedAt: at * minute, own: undefined }, at * minute, half);
  }
  return throttle;
}

test('each 429 takes a quarter, down to a quarter, and 15 quiet minutes give all back', () => {
  const shares = [1, 2, 3, 4, 5, 6, 7].map((times) => {
    const throttle = throttledAt(...Array.from({ length: times }, (_, at) => at));
    return throttle.share((times - 1) * minute);
  });
  expect(shares.map((share) => Number(share.toFixed(3)))).toEqual([0.75, 0.563, 0.422, 0.316, 0.25, 0.25, 0.25]);
  const throttle = throttledAt(0, 1, 2, 3, 4, 5, 6);
  expect([throttle.share(20 * minute), throttle.share(21 * minute)]).toEqual([0.25, 1]);
});

test('429s that were under way when the first one came count as one', () => {
  const budget = new Budget({ requestsPerMinute: 100, headroomPpm: 0 });
  for (const at of [0, 20, 40]) budget.throttled('stats', 5_000, at, half);
  expect(budget.throttle.throttledAt(40).length).toBe(1);
  budget.throttled('warmup', 5_000, 10_000, half);
  expect(budget.throttle.throttledAt(10_000).length).toBe(2);
});

test('failures in a row pause the account from the fifth on, at most for 30 s, and any answer ends that', () => {
  const throttle = new Throttle();
  let now = 0;
  const pause = () => {
    throttle.failed(now, () => 1);
    const pauseMs = Math.max(0, throttle.keyUntil - now);
    now += hourMs;
    return pauseMs;
  };
  const pauses = Array.from({ length: 12 }, pause);
  expect(pauses).toEqual([0, 0, 0, 0, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  throttle.answered();
  expect(pause()).toBe(0);
});

test('H13: a 429 of a request that was in progress at the first one does not lengthen the wait of its kind', () => {
  const throttle = new Throttle();
  for (const at of [0, 500])
    throttle.throttled({ kind: 'dns', retryAfterMs: null, startedAt: 0, own: undefined }, at, half);
  expect(throttle.kindUntil('dns')).toBeLessThan(2 * minute);
});
