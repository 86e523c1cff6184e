// The budget: evenly spaced, never more than allowed in any minute, and never a reason for a 429.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { RequestKind } from '../../src/api/answers.ts';
import { Budget, type BudgetOptions, takeSlot } from '../../src/api/budget.ts';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import { movedClock } from '../../tools/simulator/moved-clock.ts';
import { start } from './scripted-server.ts';

const half = () => 0.5;
const budgetOf = (requestsPerMinute: number, headroomPpm = 100_000) => new Budget({ requestsPerMinute, headroomPpm });

/** Starts as early as allowed, `pauses[i]` after that; returns the starts. */
function greedy(budget: Budget, pauses: readonly number[], nextAt: 'nextStartAt' | 'nextBatchAt' = 'nextStartAt') {
  let now = 0;
  return pauses.map((pause) => {
    now = Math.max(now, budget[nextAt](now)) + pause;
    budget.started(now, 'stats');
    return now;
  });
}

/** A budget whose API has so many requests left. */
function roomyBudget(requestsPerMinute: number, remaining: number | null = 400): Budget {
  const budget = budgetOf(requestsPerMinute, 0);
  say(budget, 'stats', requestsPerMinute, { remaining });
  return budget;
}

/** Times of twelve polls in gaps, from the first on, which starts at `from` or later. */
function polls(budget: Budget, from = 0): readonly number[] {
  const starts = greedy(budget, [from, ...Array.from({ length: 11 }, () => 0)], 'nextBatchAt');
  return starts.map((at) => Math.round(((at - (starts[0] ?? at)) * budget.allowedPerMinute) / minuteMs));
}
const batches = [0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8];
const oneByOne = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];

/** What sums of broken gaps are rounded by is no request too early, milliseconds. */
const roundedBy = 1e-6;

/** The most starts in any window of 60 s that excludes its beginning. */
function mostInAMinute(starts: readonly number[]): number {
  return Math.max(...starts.map((end) => starts.filter((one) => one > end - 60_000 + roundedBy && one <= end).length));
}

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
      const batched = new Budget(options);
      say(batched, 'stats', null, { remaining: 400 });
      return [greedy(budget, waits), greedy(batched, waits, 'nextBatchAt')].every(
        (starts) => mostInAMinute(starts) <= budget.allowedPerMinute,
      );
    }),
    { numRuns: 200 },
  );
});

test('from 200 requests a minute on, four polls start at once at the same rate, if the API says that it has room for eight', () => {
  expect([polls(roomyBudget(500)), polls(roomyBudget(200))]).toEqual([batches, batches]);
  // As of a bucket that holds two requests, and one that holds eight.
  const small = [roomyBudget(500, 1), roomyBudget(500, 7)];
  const others = [roomyBudget(199), ...small, roomyBudget(500, null), budgetOf(500, 0)];
  expect(others.map((budget) => polls(budget))).toEqual(others.map(() => oneByOne));
});

test('a second request of a poll keeps to the limit of its route, up to the wait after which a poll counts as hanging', async () => {
  for (const [limit, waitsMs] of [
    [10, 6_000],
    [1, 20_000],
  ] as const) {
    const clock = movedClock(start);
    const budget = budgetOf(600, 0);
    say(budget, 'stats', limit);
    say(budget, 'warmup', 600);
    budget.started(clock.monotonic(), 'stats');
    let isOver = false;
    void takeSlot(budget, 'stats', clock).then(() => {
      isOver = true;
    });
    await clock.advance(waitsMs - 1);
    expect(isOver).toBe(false);
    await clock.advance(1);
    expect(isOver).toBe(true);
  }
});

test('a limit of one route says nothing about room for batches', () => {
  const budget = roomyBudget(500);
  say(budget, 'warmup', 500, { remaining: 400 });
  say(budget, 'dns', 3, { remaining: 0 });
  expect(polls(budget)).toEqual(batches);
});

test('a single request waits for one gap after a batch, and the next batch for that request', () => {
  const budget = roomyBudget(500);
  const gap = minuteMs / 500;
  for (let start = 0; start < 4; start += 1) budget.started(1_000, 'stats');
  expect([budget.nextStartAt(1_000), budget.nextBatchAt(1_000)]).toEqual([1_000 + gap, 1_000 + 4 * gap]);
  budget.started(1_000 + gap, 'warmup_write');
  expect([budget.nextStartAt(1_200), budget.nextBatchAt(1_200)]).toEqual([1_000 + 2 * gap, 1_000 + 5 * gap]);
});

test('after a 429 to anything requests start one at a time for a day, also in the next process', () => {
  const budget = roomyBudget(500);
  const reads = hourMs / 2;
  say(budget, 'stats', 500, { at: reads, remaining: 400 });
  budget.throttled('warmup_write', 1_000, reads, half);
  expect(polls(budget, hourMs)).toEqual(oneByOne);
  const wall = 1_000 * hourMs;
  const next = roomyBudget(500);
  next.takeOver(budget.ledger(2 * hourMs, wall), 0, wall + 2 * hourMs);
  expect(next.throttle.batchesFrom).toBe(22.5 * hourMs);
  expect([polls(next, hourMs), polls(next, 24 * hourMs)]).toEqual([oneByOne, batches]);
});

test('a 429 stops everything until its Retry-After, and a shorter one later does not shorten that', () => {
  const budget = budgetOf(100);
  budget.throttled('stats', 30_000, 1_000, half);
  expect(budget.nextStartAt(2_000)).toBe(31_000);
  budget.throttled('stats', 1_000, 2_000, half);
  expect(budget.nextStartAt(3_000)).toBe(31_000);
});

/** An answer to a request with the key, or to health. */
function say(
  budget: Budget,
  kind: RequestKind,
  limit: number | null,
  { at = 0, remaining = null as number | null } = {},
) {
  budget.noteLimits({ kind, succeeded: true, limit, remaining }, at);
}

test('a limit that two kinds of requests are told is the key’s; it never widens the plan', () => {
  const budget = budgetOf(100, 0);
  say(budget, 'mailboxes', 40);
  expect(budget.limitPerMinute).toBe(100);
  say(budget, 'warmup', 40);
  expect([budget.limitPerMinute, budget.allowedPerMinute]).toEqual([40, 40]);
  for (const limit of [null, 0]) for (const kind of ['mailboxes', 'warmup'] as const) say(budget, kind, limit);
  expect(budget.limitPerMinute).toBe(40);
  for (const kind of ['mailboxes', 'warmup'] as const) say(budget, kind, 1_000);
  expect(budget.limitPerMinute).toBe(100);
});

test.each<[string, Partial<Record<RequestKind, number | null>>, number]>([
  ['two narrow routes do not speak for those that are told more', { stats: 60, warmup: 60, dns: 3, blacklist: 3 }, 60],
  ['one route without the header does not outweigh two with it', { mailboxes: null, stats: 40, warmup: 40 }, 40],
  ['two that differ agree on nothing', { mailboxes: 40, stats: 60 }, 100],
])('%s', (_, told, limit) => {
  const budget = budgetOf(100, 0);
  for (const [kind, one] of Object.entries(told)) say(budget, kind as RequestKind, one ?? null);
  expect(budget.limitPerMinute).toBe(limit);
});

test('an API that answers each request with a long 429 leaves less and less to count on, step by step', () => {
  const budget = budgetOf(500, 30_000);
  const told = new Set<boolean>();
  for (let now = 0; now < 20 * minuteMs; now = Math.max(now + 100, budget.nextStartAt(now))) {
    for (const kind of ['stats', 'warmup'] as const) {
      budget.started(now, kind);
      budget.throttled(kind, minuteMs, now + 100, half);
    }
    told.add(budget.belief(now + 100).isSlow);
  }
  expect([...told]).toEqual([false, true]);
  expect(budget.belief(20 * minuteMs).expected).toBe(1);
  const reloaded = budgetOf(500, 30_000);
  reloaded.takeOver(budget.ledger(20 * minuteMs, 0), 20 * minuteMs, 0);
  expect(reloaded.belief(20 * minuteMs).expected).toBe(1);
  expect(budget.belief(60 * minuteMs)).toMatchObject({ configured: 500, limit: 500, expected: 485, isSlow: false });
});

test('after a clock was set back the next process waits as long as the record says, and not at all where nothing waits', () => {
  const wall = 1_000 * hourMs;
  const next = (before: Budget) => {
    const budget = budgetOf(100, 0);
    budget.takeOver(before.ledger(10 * minuteMs, wall), 0, wall - 24 * hourMs);
    return [budget.nextStartAt(0), Math.max(0, budget.opensAt('stats'))];
  };
  expect(next(budgetOf(100, 0))).toEqual([600, 0]);
  const stopped = budgetOf(100, 0);
  stopped.throttled('stats', minuteMs, 10 * minuteMs, half);
  expect(next(stopped)).toEqual([minuteMs, minuteMs]);
});
