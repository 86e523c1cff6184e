// The honest plan: how old each kind of data gets with a cadence and a budget.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cadenceOf, type ForecastInput, forecastOf, type Gaps } from '../../src/api/poll/forecast.ts';
import { PollQueue } from '../../src/api/poll/queue.ts';
import { routes } from '../../src/core/answers.ts';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import { mendText, sumText } from '../../src/core/wording/forecast.ts';

const every = (ms: number) => ({ shortestMs: ms, longestMs: ms });
/** The default cadence of config.example.yaml. */
const gaps: Gaps = {
  health: every(minuteMs),
  mailboxes: every(minuteMs),
  stats: every(15 * minuteMs),
  warmup: every(30 * minuteMs),
  mailbox: every(6 * hourMs),
  dns: every(6 * hourMs),
  blacklist: every(6 * hourMs),
};
const input = (mailboxes: number, change: Partial<ForecastInput> = {}): ForecastInput => ({
  mailboxes,
  allowedPerMinute: 90,
  sparePerMinute: Number.POSITIVE_INFINITY,
  headroomPpm: 100_000,
  gaps,
  earlyMs: 0,
  ...change,
});

test.each([
  ['a cadence that is too much', input(1_000), /^1,000 .* at 90 .* needs 110 a minute; stats are at worst 18 min old$/],
  ['one by risk', input(1_000, { earlyMs: minuteMs }), /18 min old, of the mailboxes at least risk 23 min$/],
  ['an account without a mailbox', input(0), /^No mailbox of this account is guarded: its mailbox list is empty, or /],
])('the sentence about %s says by how much, and how old statistics get', (_, given, said) => {
  expect(sumText(forecastOf(given))).toMatch(said);
});

test('what would mend a cadence that is too much is said', () => {
  const mends =
    /^A key with 123 requests .* \(plan enterprise: 500\)\. Or .* stats every 20 min and warm-up data every 60 min\.$/;
  expect(mendText(forecastOf(input(1_000)))).toMatch(mends);
});

test('where the API lets nothing start, the key is looked at, not its plan', () => {
  const forecast = forecastOf(input(1_000, { allowedPerMinute: 1, isHeldBack: true }));
  expect(sumText(forecast)).toMatch(/^1,000 mailboxes at 1 request a minute: .* stats are at worst 33 h 51 min old$/);
  expect(mendText(forecast)).toMatch(
    /^Most of the time the API answers 429 \(too many requests\), .* what else uses the key/,
  );
});

test('a cadence that fits gives the ages that it says, or better ones by risk, and nothing is to be mended', () => {
  const [plain, early] = [forecastOf(input(100)), forecastOf(input(100, { earlyMs: minuteMs }))];
  expect([plain.fits, plain.oldestMs.dns, mendText(plain)]).toEqual([true, 6 * hourMs, '']);
  expect(sumText(plain)).toMatch(/stats are at worst 15 min old$/);
  expect(early.oldestMs.stats).toBeLessThan(2 * minuteMs);
});

/** How old the statistics of a mailbox got at most while the queue itself spent that budget for hours. */
function measuredMs({ mailboxes, allowedPerMinute, sparePerMinute, earlyMs }: ForecastInput): number {
  const cadenceMs = cadenceOf(gaps);
  const queue = new PollQueue({
    cadenceMs,
    allowedPerMinute: () => allowedPerMinute,
    sparePerMinute: () => sparePerMinute,
    earlyMs,
  });
  const ids = Array.from({ length: mailboxes }, (_, index) => String(index));
  for (const [index, id] of ids.entries()) {
    const readAt = (-index / mailboxes) * 6 * hourMs;
    queue.join(id, { mailbox: readAt, dns: readAt, blacklist: readAt }, 0);
    queue.weigh(id, { sendsPerDay: 40, sendsLeftToday: index % 3 === 0 ? 0 : 40, bouncesLeft: 1 + (index % 20) });
  }
  const from = (2 * mailboxes * minuteMs) / allowedPerMinute + 30 * minuteMs;
  const lastRead = new Map<string, number>();
  let [oldestMs, ran] = [0, 0];
  for (let now = 0; now < from + 2 * hourMs; now += minuteMs / allowedPerMinute) {
    for (; ran + minuteMs <= now; ran += minuteMs)
      for (const route of routes) if ((ran + minuteMs) % cadenceMs[route] === 0) queue.run(route, ran + minuteMs);
    const poll = queue.take(now);
    if (!poll) continue;
    queue.done(poll);
    if (poll.route !== 'stats' || poll.mailboxId === null) continue;
    if (now > from) oldestMs = Math.max(oldestMs, now - (lastRead.get(poll.mailboxId) ?? now));
    lastRead.set(poll.mailboxId, now);
  }
  return oldestMs;
}

test.each([
  [5, 90, minuteMs, 50],
  [100, 90, minuteMs, Number.POSITIVE_INFINITY],
  [100, 90, minuteMs, 50],
  [300, 90, minuteMs, 50],
  [800, 90, minuteMs, 50],
  [150, 225, minuteMs, 125],
  [30, 90, 10 * minuteMs, 50],
  [100, 90, 0, 50],
  [800, 90, 0, 50],
  [30, 90, 1_000, 50],
])(
  '%i mailboxes on %i a minute, read again after %i ms at the earliest, %i to spare: the age that is said is the age that is met',
  (mailboxes, allowedPerMinute, earlyMs, sparePerMinute) => {
    const given = input(mailboxes, { allowedPerMinute, earlyMs, sparePerMinute });
    const [said, met] = [forecastOf(given).oldestMs.stats, measuredMs(given)];
    expect(met).toBeLessThanOrEqual(said);
    expect(met).toBeGreaterThan(0.8 * said);
  },
);

test('what it proposes does fit, whatever the fleet and the budget', () => {
  const budgets = fc.record({
    mailboxes: fc.integer({ min: 1, max: 20_000 }),
    allowedPerMinute: fc.integer({ min: 10, max: 500 }),
    sparePerMinute: fc.constantFrom(0, 50, Number.POSITIVE_INFINITY),
    headroomPpm: fc.integer({ min: 0, max: 500_000 }),
    earlyMs: fc.constantFrom(0, minuteMs),
  });
  fc.assert(
    fc.property(budgets, (budget) => {
      const forecast = forecastOf({ ...budget, gaps });
      expect(forecast.fits).toBe(forecast.mend === null);
      expect(forecast.calmestMs).toBeGreaterThanOrEqual(forecast.oldestMs.stats);
      if (!forecast.mend) return;
      const { requestsPerMinute, statsMs, warmupMs } = forecast.mend;
      const allowedPerMinute = Math.floor((requestsPerMinute * (1e6 - budget.headroomPpm)) / 1e6);
      expect(forecastOf({ ...budget, gaps, allowedPerMinute: allowedPerMinute + 1 }).fits).toBe(true);
      const slower = { ...gaps, stats: every(statsMs), warmup: every(warmupMs) };
      const slow = { mailbox: every(hourMs * 1e6), dns: every(hourMs * 1e6), blacklist: every(hourMs * 1e6) };
      expect(forecastOf({ ...budget, gaps: { ...slower, ...slow } }).fits).toBe(true);
    }),
    { numRuns: 300 },
  );
});
