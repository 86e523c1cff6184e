// The budget: evenly spaced, never more than allowed in any minute, and never a reason for a 429.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Budget, type BudgetOptions } from '../../src/mailbox-api/budget.ts';
import { minuteMs } from '../../src/model/time.ts';
import { SlidingWindow } from '../../src/simulator/rate-limit.ts';
import { movedClock } from '../../src/world.ts';
import { start } from './scripted-server.ts';

const half = () => 0.5;
const budgetOf = (requestsPerMinute: number, headroomPpm = 100_000) => new Budget({ requestsPerMinute, headroomPpm });

/** Starts as early as allowed, `pauses[i]` after that; returns the starts. */
function greedy(budget: Budget, pauses: readonly number[]): number[] {
  let now = 0;
  return pauses.map((pause) => {
    now = Math.max(now, budget.nextStartAt(now)) + pause;
    budget.started(now);
    return now;
  });
}

/** What sums of broken gaps are rounded by is no request too early, milliseconds. */
const roundedBy = 1e-6;

/** The most starts in any window of 60 s that excludes its beginning. */
function mostInAMinute(starts: readonly number[]): number {
  return Math.max(...starts.map((end) => starts.filter((one) => one > end - 60_000 + roundedBy && one <= end).length));
}

test('the headroom is left to others, and one request a minute is always allowed', () => {
  expect([budgetOf(100), budgetOf(500), budgetOf(100, 0), budgetOf(1)].map((one) => one.allowedPerMinute)).toEqual([
    90, 450, 100, 1,
  ]);
});

test('requests are evenly spaced, also after an idle hour: there is no burst', () => {
  const budget = budgetOf(100, 0);
  expect(greedy(budget, [0, 0, 0])).toEqual([0, 600, 1_200]);
  expect(budget.nextStartAt(3_600_000)).toBe(3_600_000);
  budget.started(3_600_000);
  expect(budget.nextStartAt(3_600_000)).toBe(3_600_600);
});

test('never more than allowed in any minute, whatever the pauses', () => {
  const limits = fc.record({
    requestsPerMinute: fc.integer({ min: 1, max: 300 }),
    headroomPpm: fc.integer({ min: 0, max: 900_000 }),
  });
  const pauses = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 90_000 })), {
    minLength: 1,
    maxLength: 400,
  });
  fc.assert(
    fc.property(limits, pauses, (options: BudgetOptions, waits) => {
      const budget = new Budget(options);
      return mostInAMinute(greedy(budget, waits)) <= budget.allowedPerMinute;
    }),
    { numRuns: 200 },
  );
});

test('a 429 stops everything until its Retry-After, and a shorter one later does not shorten that', () => {
  const budget = budgetOf(100);
  budget.throttled(30_000, 1_000, half);
  expect(budget.nextStartAt(2_000)).toBe(31_000);
  budget.throttled(1_000, 2_000, half);
  expect(budget.nextStartAt(3_000)).toBe(31_000);
});

test('a 429 without a Retry-After waits until the window has passed, and a little by chance', () => {
  const waits = [0, 0.999].map((chance) => {
    const budget = budgetOf(100);
    budget.throttled(null, 0, () => chance);
    return budget.nextStartAt(0);
  });
  expect(waits).toEqual([60_000, 64_995]);
});

test('headers tighten the budget and never widen it beyond the plan', () => {
  const budget = budgetOf(100, 0);
  budget.noteLimits({ limit: 1_000, remaining: 999, startedAt: null }, 0);
  expect(budget.allowedPerMinute).toBe(100);
  budget.noteLimits({ limit: 40, remaining: null, startedAt: null }, 0);
  expect(budget.allowedPerMinute).toBe(40);
  budget.noteLimits({ limit: null, remaining: null, startedAt: null }, 0);
  expect(budget.allowedPerMinute).toBe(40);
  budget.noteLimits({ limit: 0, remaining: null, startedAt: null }, 0);
  expect(budget.allowedPerMinute).toBe(40);
});

test('with nothing remaining, requests wait until the oldest of ours has left the window', () => {
  const budget = budgetOf(100, 0);
  budget.started(0);
  budget.started(5_000);
  budget.noteLimits({ limit: 100, remaining: 0, startedAt: null }, 5_100);
  expect(budget.nextStartAt(5_100)).toBe(60_000);
});

test('an API that says after each request that nothing remains leaves one request a minute to count on, step by step', () => {
  const budget = budgetOf(500, 30_000);
  const told = new Set<number>();
  for (let now = 0; now < 20 * minuteMs; now = Math.max(now + 100, budget.nextStartAt(now))) {
    budget.started(now);
    budget.noteLimits({ limit: 500, remaining: 0, startedAt: now }, now + 100);
    told.add(budget.expectedPerMinute(now + 100));
  }
  expect([...told]).toEqual([485, 242, 121, 60, 1]);
  expect(budget.allowedPerMinute).toBe(485);
  const reloaded = budgetOf(500, 30_000);
  reloaded.follow(budget);
  expect(reloaded.expectedPerMinute(20 * minuteMs)).toBe(1);
  expect(budget.expectedPerMinute(30 * minuteMs)).toBe(485);
});

test('a stop now and then, and pauses of an outage, leave what to count on as it is', () => {
  const budget = budgetOf(100, 0);
  for (let now = 0; now < 30 * minuteMs; now += 5 * minuteMs) {
    budget.started(now);
    budget.noteLimits({ limit: 100, remaining: 0, startedAt: now }, now);
    for (let failures = 0; failures < 20; failures += 1) budget.failed(now, () => 1);
    expect(budget.expectedPerMinute(now + minuteMs)).toBe(100);
  }
});

test.each([
  [100, 0],
  [100, 100_000],
  [60, 0],
  [7, 0],
  [1, 0],
])(
  '%i a minute with %i ppm of headroom: hours on the exact window of the API without one 429',
  async (limit, headroom) => {
    const clock = movedClock(start);
    const budget = budgetOf(limit, headroom);
    const api = new SlidingWindow(limit, clock);
    const stop = new AbortController();
    const refused: number[] = [];
    let asked = 0;
    const asking = (async () => {
      while (!stop.signal.aborted) {
        const now = clock.monotonic();
        const wait = budget.nextStartAt(now) - now;
        // Whole milliseconds, as timers have them.
        if (wait > 0) await clock.sleep(Math.ceil(wait), stop.signal);
        else {
          budget.started(now);
          asked += 1;
          const { admitted, limit: notified, remaining } = api.knock();
          if (!admitted) refused.push(now);
          budget.noteLimits({ limit: notified, remaining, startedAt: now }, now);
        }
      }
    })();
    await clock.advance(2 * 3_600_000);
    stop.abort();
    await asking;
    expect(refused).toEqual([]);
    expect(asked).toBeGreaterThan(0.95 * 120 * budget.allowedPerMinute);
  },
);

test('the window of that proof does refuse whoever asks more', () => {
  const api = new SlidingWindow(10, movedClock(start));
  const admitted = Array.from({ length: 11 }, () => api.knock().admitted);
  expect(admitted).toEqual([...Array(10).fill(true), false]);
});
