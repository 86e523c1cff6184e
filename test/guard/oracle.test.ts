// The guard against a second reading of its policy: both must say the same of every situation.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { underPressure } from '../../src/cli/decide.ts';
import { judge } from '../../src/core/guard/judge.ts';
import { defaultPolicy } from '../../src/core/policy.ts';
import { dayMs } from '../../src/core/time.ts';
import { reasons } from '../../src/core/verdict.ts';
import { oracle, oracleTrips } from './oracle.ts';
import { daysUpTo, situation, today } from './samples.ts';
import { anyJudged, type Judged } from './situations.ts';

// A twentieth of the proof in `npm test`, all of it in `npm run proofs`.
const runs = process.env['WARMWARDEN_SLOW'] ? 100_000 : 5_000;

/** What judge says, as far as the oracle speaks of it. */
function notified({ policy, situation }: Judged) {
  const { action, reason, wanted, sent, bounced, limitPpm } = judge(policy, situation);
  return { action, reason, wanted, sent, bounced, limitPpm };
}

test('the guard decides as a second implementation of its policy does, in every corner', () => {
  const seen = new Map<string, number>();
  fc.assert(
    fc.property(anyJudged, fc.constantFrom(0, 0, 0, dayMs), ({ policy, situation }, apiAheadMs) => {
      const judged = { policy, situation: { ...situation, apiAheadMs } };
      const expected = oracle(judged.policy, judged.situation);
      seen.set(expected.reason, (seen.get(expected.reason) ?? 0) + 1);
      expect(notified(judged)).toEqual(expected);
    }),
    { numRuns: runs },
  );
  // A generator that never gets somewhere proves nothing about that place.
  const notJudged = ['no_warmup', 'circuit_breaker', 'contested', 'clean_volume'];
  const everywhere = reasons.filter((reason) => !notJudged.includes(reason));
  for (const reason of everywhere) expect(seen.get(reason) ?? 0, reason).toBeGreaterThan(runs / 1_000);
});

test('the breaker trips as its policy says, for any fleet', () => {
  const breaker = fc.record({
    sharePpm: fc.constantFrom(1, 33_333, 100_000, 1_000_000),
    minMailboxes: fc.integer({ min: 1, max: 30 }),
    maxMailboxes: fc.integer({ min: 1, max: 30 }),
    minDomains: fc.integer({ min: 1, max: 5 }),
    windowMs: fc.constant(60_000),
  });
  const wants = judge(defaultPolicy, situation({ rows: daysUpTo(today, [40, 1], [40, 1]) }));
  const fleet = fc.record({
    active: fc.integer({ min: 0, max: 400 }),
    pending: fc.integer({ min: 1, max: 50 }),
    distinct_domains: fc.integer({ min: 1, max: 6 }),
  });
  fc.assert(
    fc.property(fc.oneof(fc.constant(defaultPolicy.breaker), breaker), fleet, (knobs, counts) => {
      // So many mailboxes can't be on more domains than that.
      const pressure = { ...counts, distinct_domains: Math.min(counts.distinct_domains, counts.pending) };
      const { reason } = underPressure(wants, { ...defaultPolicy, breaker: knobs }, pressure);
      expect(reason === 'circuit_breaker').toBe(oracleTrips(knobs, pressure));
    }),
    { numRuns: 2_500 },
  );
});
