// What must hold of the guard's verdict whatever the rows are, and what the oracle does not speak of.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { StatsRow } from '../../src/core/answers.ts';
import { judge, type Situation } from '../../src/core/guard/judge.ts';
import { afterSight, firstSight } from '../../src/core/guard/memory.ts';
import { countsOf, pool, readDays } from '../../src/core/guard/rows.ts';
import { defaultPolicy, type Policy } from '../../src/core/policy.ts';
import { addDays } from '../../src/core/time.ts';
import { now, row, situation, today } from './samples.ts';
import { anyJudged } from './situations.ts';

// A tenth of the proof in `npm test`, all of it in `npm run proofs`.
const runs = { numRuns: process.env['WARMWARDEN_SLOW'] ? 5_000 : 500 };
/** Of a property to whose conditions most situations do not fit. */
const rareRuns = { numRuns: runs.numRuns / 5 };

function withRows(situation: Situation, rows: readonly StatsRow[] | null): Situation {
  return { ...situation, rows };
}

/** The situation with bounces added to one row. */
function bouncing(situation: Situation, target: StatsRow, bounces: number): Situation {
  const more = { ...target, bounced: (target.bounced ?? 0) + bounces };
  return withRows(situation, situation.rows?.map((one) => (one === target ? more : one)) ?? null);
}

/** The rows say something else of a day than its counts, or will when it has more bounces. */
function isReadTwice({ rows, now }: Situation): boolean {
  const isSaid = ({ bounceRatePercent, delivered }: StatsRow) => bounceRatePercent !== null || delivered !== null;
  return readDays(rows ?? [], now).others.size > 0 || (rows ?? []).some(isSaid);
}

/** The only row of the newest day, when there is just one and it can be read. */
function newestRow({ rows, now }: Situation): StatsRow | null {
  const days = readDays(rows ?? [], now);
  const { anchor } = days;
  const own = rows?.filter((one) => one.date === anchor) ?? [];
  return anchor !== null && own.length === 1 && countsOf(days, anchor) ? (own[0] ?? null) : null;
}

test('of two rows with the same counts the one that says more counts, in either order', () => {
  const [said, unsaid] = [{ ...row(today, 10, 0), delivered: 4 }, row(today, 10, 0)];
  for (const rows of [
    [said, unsaid],
    [unsaid, said],
  ])
    expect(readDays(rows, now).days).toMatchObject([{ delivered: 4 }]);
});

test('the window holds exactly the days that it names, within its bounds and not before the evidence began', () => {
  fc.assert(
    fc.property(anyJudged, ({ policy, situation }) => {
      const { windowFrom: from, windowTo: to, windowDays, sent, bounced, foundUntil } = judge(policy, situation);
      if (from === null || to === null) {
        expect([windowDays, sent, bounced]).toEqual([0, 0, 0]);
        return;
      }
      expect(addDays(from, windowDays - 1)).toBe(to);
      // A burst has three days of its own, however short the window is.
      expect(windowDays).toBeLessThanOrEqual(Math.max(policy.windowMaxDays, policy.burst === 'act' ? 3 : 0));
      // What a mailbox was found with in recovery mode is from before its evidence.
      const evidence = foundUntil ? null : situation.evidence;
      if (evidence) expect(from >= evidence.from).toBe(true);
      const days = readDays(situation.rows ?? [], situation.now);
      expect({ sent, bounced }).toEqual(pool(days, { from, to }, evidence));
    }),
    runs,
  );
});

describe('bouncesUntilBreach', () => {
  const calm = (policy: Policy): Policy => ({
    ...policy,
    burst: 'alert',
    emergency: { ...policy.emergency, minBounces: 1e9 },
  });
  const breaches: readonly string[] = ['bounce_rate_over_limit', 'repeat_offender', 'first_sight'];

  test('is exact: so many bounces breach, one fewer do not', () => {
    let checked = 0;
    fc.assert(
      fc.property(anyJudged, ({ policy, situation }) => {
        const [knobs, now] = [calm(policy), { ...situation, run: 'running' as const, evidence: null }];
        const verdict = judge(knobs, now);
        const [left, target] = [verdict.bouncesUntilBreach, newestRow(now)];
        fc.pre(left !== null && target !== null && verdict.sent >= verdict.bounced + left);
        fc.pre([...breaches, 'ok', 'insufficient_evidence'].includes(verdict.reason));
        // What other readings deny is no breach, whatever the counts are.
        fc.pre(!isReadTwice(now));
        checked += 1;
        expect(left === 0).toBe(breaches.includes(verdict.reason));
        expect(breaches).toContain(judge(knobs, bouncing(now, target, left)).reason);
        if (left === 0) return;
        expect(['ok', 'insufficient_evidence']).toContain(judge(knobs, bouncing(now, target, left - 1)).reason);
      }),
      rareRuns,
    );
    expect(checked).toBeGreaterThanOrEqual(rareRuns.numRuns);
  });

  test('cannot be said in an unknown mode, nor while bounces would be more than the emails', () => {
    for (const change of [{ mode: 'turbo' }, { rows: [row(today, 1, 0)] }, { rows: [row(today, 1, 5)] }])
      expect(judge(defaultPolicy, situation(change)).bouncesUntilBreach).toBeNull();
  });
});

const anyCount = fc.oneof(fc.constant(null), fc.double(), fc.integer(), fc.maxSafeInteger());
const anyDate = fc.oneof(
  fc.constantFrom(null, '', '0001-01-01', '0000-00-00', '9999-12-31', '2025-02-29', '+002025-03-20', today),
  fc.string(),
  fc.integer({ min: -40, max: 40 }).map((days) => addDays(today, days)),
);
const anyRow = fc.tuple(anyDate, anyCount, anyCount).map(([date, sent, bounced]) => row(date, sent, bounced));

test('judging never throws on any rows, in any situation, and neither does remembering', () => {
  fc.assert(
    fc.property(anyJudged, fc.array(anyRow, { maxLength: 8 }), ({ policy, situation }, odd) => {
      const rows = [...odd, ...(situation.rows ?? []).slice(0, 3)];
      judge(policy, withRows(situation, rows));
      const memory = firstSight(policy, withRows(situation, rows));
      afterSight(policy, memory, { ...situation, rows, mode: 'slow' });
    }),
    runs,
  );
});
