// headroom: auto. A key that is ours alone is used up to 97 % without one 429; another tool is noticed, however the API counts.
import { expect, test } from 'vitest';
import { Budget } from '../../src/api/budget.ts';
import { Sharing } from '../../src/api/limits.ts';
import { movedClock } from '../../src/world/world.ts';
import { seededChance } from '../../tools/bench/guard/chance.ts';
import { createLimiter, type LimiterKind, limiterKinds } from '../../tools/simulator/rate-limit.ts';
import { start } from './scripted-server.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
/** Another tool begins after this. */
const aloneMs = 5 * minute;

interface Use {
  readonly limit: number;
  readonly minutes: number;
  /** Milliseconds between the requests of another tool, after `aloneMs`; null: there is none. */
  readonly otherEveryMs: number | null;
}

/** Requests as fast as the budget allows, each under way for 40 ms and more, one in a hundred for up to 3 s. */
async function use(kind: LimiterKind, { limit, minutes, otherEveryMs }: Use) {
  const clock = movedClock(start);
  const random = seededChance(7);
  const budget = new Budget({ requestsPerMinute: limit, headroomPpm: null });
  const api = createLimiter(kind, limit, clock);
  const stop = new AbortController();
  let [sent, refused] = [0, 0];
  const knock = async () => {
    const startedAt = clock.monotonic();
    await clock.sleep(40 - Math.log(1 - random()) * 60 + (random() < 0.01 ? random() * 3_000 : 0));
    const { admitted, limit: said, remaining, retryAfterSeconds } = api.knock();
    await clock.sleep(random() * 100);
    budget.ended(clock.monotonic());
    if (stop.signal.aborted) return;
    budget.noteLimits({ kind: 'stats', succeeded: true, limit: said, remaining, startedAt }, clock.monotonic());
    if (admitted) return;
    refused += 1;
    budget.throttled('stats', retryAfterSeconds * 1_000, clock.monotonic(), random);
  };
  const ours = (async () => {
    while (!stop.signal.aborted) {
      const wait = budget.nextStartAt(clock.monotonic()) - clock.monotonic();
      if (wait > 0) await clock.sleep(Math.ceil(wait), stop.signal);
      else {
        budget.started(clock.monotonic(), 'stats');
        sent += 1;
        budget.sent();
        void knock();
      }
    }
  })();
  const others = (async () => {
    if (otherEveryMs === null) return;
    await clock.sleep(aloneMs, stop.signal);
    while (!stop.signal.aborted) {
      api.knock();
      await clock.sleep(otherEveryMs, stop.signal);
    }
  })();
  await clock.advance(minutes * minute);
  const { headroomPpm } = budget;
  stop.abort();
  await Promise.all([ours, others]);
  return { usedShare: sent / (limit * minutes), refused, headroomPpm };
}

test.each(
  limiterKinds.flatMap((kind) => [
    { kind, limit: 100, minutes: 60 },
    { kind, limit: 500, minutes: 15 },
  ]),
)(
  '$kind, $limit a minute: a key that is ours alone is used to 97 % and never throttled',
  async ({ kind, ...usage }) => {
    const { usedShare, refused, headroomPpm } = await use(kind, { ...usage, otherEveryMs: null });
    expect([refused, headroomPpm]).toEqual([0, 30_000]);
    expect(usedShare).toBeGreaterThan(0.9695);
  },
);

test.each(['sliding', 'fixed'] as const)('%s: a tool that asks every 20 s is noticed before any 429', async (kind) => {
  const { headroomPpm, refused } = await use(kind, { limit: 100, minutes: 15, otherEveryMs: 20_000 });
  expect([headroomPpm, refused]).toEqual([100_000, 0]);
});

test.each(['token_bucket', 'small_bucket'] as const)(
  '%s: what remains in it says nothing of others, the first 429 does',
  async (kind) => {
    const { headroomPpm, refused } = await use(kind, { limit: 100, minutes: 60, otherEveryMs: 10_000 });
    expect([headroomPpm, refused <= 1]).toEqual([100_000, true]);
  },
);

test('a 429 in spite of our counting makes the headroom 10 % for 24 hours', () => {
  const budget = new Budget({ requestsPerMinute: 100, headroomPpm: null });
  expect(budget.allowedPerMinute).toBe(97);
  budget.throttled('stats', 1_000, hour, () => 0);
  budget.nextStartAt(2 * hour);
  expect(budget.allowedPerMinute).toBe(90);
  budget.nextStartAt(day + hour - 1);
  expect(budget.allowedPerMinute).toBe(90);
  budget.nextStartAt(day + hour);
  expect(budget.allowedPerMinute).toBe(97);
});

test('a share that is written out is kept, whatever others do', () => {
  const budget = new Budget({ requestsPerMinute: 100, headroomPpm: 50_000 });
  budget.throttled('stats', 1_000, 0, () => 0);
  budget.nextStartAt(hour);
  expect([budget.headroomPpm, budget.allowedPerMinute]).toEqual([50_000, 95]);
});

test('what was seen of others survives a change of settings', () => {
  const before = new Budget({ requestsPerMinute: 100, headroomPpm: null });
  before.throttled('stats', 1_000, 0, () => 0);
  const after = new Budget({ requestsPerMinute: 500, headroomPpm: null });
  after.takeOver(before.ledger(1_000, 0), 1_000, 0);
  after.nextStartAt(hour);
  expect(after.headroomPpm).toBe(100_000);
});

test('of an answer that took long, what came while it was under way is ours', () => {
  const sharing = new Sharing();
  for (let request = 0; request < 60; request += 1) sharing.sent();
  // One a second, each answered at once; the first of the minute is answered last, with what the API counted when it came.
  for (let second = 1; second < 60; second += 1) sharing.ended(second * 1_000);
  sharing.ended(minute + 29_000);
  const taken = (remaining: number) =>
    sharing.remains({ kind: 'stats', limit: 100, remaining, startedAt: minute }, minute + 29_000);
  taken(50);
  taken(40);
  expect(sharing.headroomPpm(minute + 29_000)).toBe(30_000);
});

test('answers that overtake one another, and a window that starts over, are not the requests of somebody else', () => {
  const sharing = new Sharing();
  const answer = (startedAt: number, remaining: number, now: number) => {
    sharing.ended(now);
    sharing.remains({ kind: 'stats', limit: 100, remaining, startedAt }, now);
  };
  for (let request = 0; request < 4; request += 1) sharing.sent();
  answer(1_200, 97, 1_250);
  answer(0, 99, 1_300);
  answer(600, 98, 1_400);
  answer(60_000, 99, 60_100);
  expect(sharing.headroomPpm(60_100)).toBe(30_000);
});

test('a number that repeats the one before, by that kind of request, is no count of anybody', () => {
  const sharing = new Sharing();
  const say = (kind: 'stats' | 'dns', remaining: number) =>
    sharing.remains({ kind, limit: 100, remaining, startedAt: minute }, minute);
  for (const [kind, remaining] of [
    ['stats', 57],
    ['stats', 57],
    ['dns', 60],
    ['dns', 60],
    ['stats', 57],
  ] as const)
    say(kind, remaining);
  expect(sharing.headroomPpm(minute)).toBe(30_000);
  say('dns', 59);
  expect(sharing.headroomPpm(minute)).toBe(100_000);
});

test('after a takeover the requests of the predecessor are nobody else, for as long as the API counts them', () => {
  const budget = new Budget({ requestsPerMinute: 100, headroomPpm: null });
  const answer = (startedAt: number, remaining: number) => {
    budget.sent();
    budget.ended(startedAt + 100);
    budget.noteLimits({ kind: 'stats', succeeded: true, limit: 100, remaining, startedAt }, startedAt + 100);
    budget.nextStartAt(startedAt + 100);
  };
  // It was killed: what it wrote down is old, and of its last requests nobody knows.
  budget.takeOver(new Budget({ requestsPerMinute: 100, headroomPpm: null }).ledger(0, 0), hour, 0);
  answer(hour + 1_000, 61);
  budget.throttled('stats', 1_000, hour + 30_000, () => 0);
  answer(hour + minute - 1, 60);
  expect(budget.headroomPpm).toBe(30_000);
  answer(hour + minute, 61);
  expect(budget.headroomPpm).toBe(100_000);
});

test('what a predecessor saw of others, and the 429s that it obeyed, count for its heir', () => {
  const before = new Budget({ requestsPerMinute: 100, headroomPpm: null });
  before.throttled('stats', 1_000, hour, () => 0);
  const after = new Budget({ requestsPerMinute: 100, headroomPpm: null });
  // The wall clock is a day ahead of one, and an hour behind the other.
  after.takeOver(JSON.parse(JSON.stringify(before.ledger(hour + minute, day))), day + 2 * hour + minute, -hour);
  after.nextStartAt(day + 2 * hour + minute);
  expect([after.headroomPpm, after.allowedPerMinute]).toEqual([100_000, 67]);
  expect(after.throttledAt(day + 2 * hour + minute)).toHaveLength(1);
});
