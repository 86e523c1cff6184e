// What must hold of the guard's verdict whatever the rows are.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { StatsRow } from '../../src/core/answers.ts';
import { judge, type Situation } from '../../src/core/guard/judge.ts';
import { afterSight, firstSight } from '../../src/core/guard/memory.ts';
import { countsOf, pool, readDays } from '../../src/core/guard/rows.ts';
import { defaultPolicy, isWarmupMode, type Policy } from '../../src/core/policy.ts';
import { addDays, utcDate } from '../../src/core/time.ts';
import type { Verdict } from '../../src/core/verdict.ts';
import { daysUpTo, now, row, situation, times, today } from './samples.ts';
import { anyJudged, anyPolicy, anySituation, type Judged } from './situations.ts';

// A tenth of the proof in `npm test`, all of it in `npm run proofs`.
const runs = { numRuns: process.env['WARMWARDEN_SLOW'] ? 5_000 : 500 };
const severity: Record<Verdict['action'], number> = { none: 0, hold: 0, recovery: 1, pause: 2, restore: 0 };
const acts = (verdict: Verdict) => severity[verdict.action] > 0;

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

/** The emergency rule looks elsewhere when its days hold more bounces than emails. */
function emergencyPoolOverflows({ policy, situation }: Judged): boolean {
  const days = readDays(situation.rows ?? [], situation.now);
  if (days.anchor === null) return false;
  const range = { from: addDays(days.anchor, 1 - policy.emergency.days), to: days.anchor };
  const { sent, bounced } = pool(days, range, situation.emergencyEvidence);
  return bounced > sent;
}

test('the order of rows never matters', () => {
  const shuffled = anyJudged.chain((judged) =>
    fc.record({
      judged: fc.constant(judged),
      rows: fc.shuffledSubarray([...(judged.situation.rows ?? [])], { minLength: judged.situation.rows?.length ?? 0 }),
    }),
  );
  fc.assert(
    fc.property(shuffled, ({ judged: { policy, situation }, rows }) => {
      const straight = judge(policy, situation);
      const mixed = judge(policy, withRows(situation, situation.rows && rows));
      expect({ ...mixed, warnings: [] }).toEqual({ ...straight, warnings: [] });
    }),
    runs,
  );
});

test('of two rows with the same counts the one that says more counts, in either order', () => {
  const [said, unsaid] = [{ ...row(today, 10, 0), delivered: 4 }, row(today, 10, 0)];
  for (const rows of [
    [said, unsaid],
    [unsaid, said],
  ])
    expect(readDays(rows, now).days).toMatchObject([{ delivered: 4 }]);
});

describe('one more bounce', () => {
  const bounced = fc.record({ judged: anyJudged, chosen: fc.nat() });

  test('never lowers the severity, holds aside', () => {
    fc.assert(
      fc.property(bounced, ({ judged: { policy, situation }, chosen }) => {
        const target = situation.rows?.[chosen % (situation.rows.length || 1)];
        fc.pre(target !== undefined && Number.isSafeInteger(target.bounced) && (target.bounced ?? -1) >= 0);
        const more = bouncing(situation, target, 1);
        fc.pre(!emergencyPoolOverflows({ policy, situation: more }));
        const [before, after] = [judge(policy, situation), judge(policy, more)];
        if (before.action === 'hold' || after.action === 'hold') return;
        expect(severity[after.action]).toBeGreaterThanOrEqual(severity[before.action]);
      }),
      runs,
    );
  });

  // The one exception that the emergency rule makes: more bounces than emails are late ones, and the week is asked.
  test('turns an emergency into a question to the week when bounces exceed emails', () => {
    const week = (bounced: number) => situation({ rows: daysUpTo(today, ...times(5, 40), [0, 0], [3, bounced]) });
    expect(judge(defaultPolicy, week(3))).toMatchObject({ action: 'pause', reason: 'emergency' });
    expect(judge(defaultPolicy, week(4))).toMatchObject({ action: 'recovery', reason: 'bounce_rate_over_limit' });
  });
});

describe('stale or malformed statistics', () => {
  test('never act when the newest row is older than the policy allows', () => {
    fc.assert(
      fc.property(anyPolicy, anySituation, fc.integer({ min: 1, max: 400 }), (policy, situation, more) => {
        // One that sends on one weekday is missed once a week.
        const last = addDays(utcDate(situation.now), -7 * (policy.staleAfterDays + 1) - more);
        const old = situation.rows?.filter((one) => one.date !== null && one.date <= last) ?? [];
        const verdict = judge(policy, withRows(situation, old));
        expect(acts(verdict), verdict.reason).toBe(false);
      }),
      runs,
    );
  });

  test('never act on a payload without rows, and on an unreadable row only as an emergency', () => {
    const bad = fc.constantFrom(null, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53);
    fc.assert(
      fc.property(anyJudged, bad, fc.nat(), fc.boolean(), ({ policy, situation }, count, chosen, inSent) => {
        expect(acts(judge(policy, withRows(situation, null)))).toBe(false);
        const date = addDays(
          readDays(situation.rows ?? [], situation.now).anchor ?? today,
          -(chosen % policy.windowDays),
        );
        const broken = inSent ? row(date, count, 0) : row(date, 10, count);
        const verdict = judge(policy, withRows(situation, [...(situation.rows ?? []), broken]));
        if (acts(verdict)) expect(verdict.reason).toBe('emergency');
      }),
      runs,
    );
  });

  test('never act as an emergency on a day that cannot be read', () => {
    fc.assert(
      fc.property(anyJudged, fc.nat(), ({ policy, situation }, chosen) => {
        const date = addDays(
          readDays(situation.rows ?? [], situation.now).anchor ?? today,
          -(chosen % policy.emergency.days),
        );
        const verdict = judge(policy, withRows(situation, [...(situation.rows ?? []), row(date, null, 3)]));
        expect(verdict.reason).not.toBe('emergency');
      }),
      runs,
    );
  });
});

describe('the window', () => {
  const flat = (policy: Policy): Policy => ({ ...policy, windowMaxDays: policy.windowDays });

  test('its extension never hides a breach of its first days, unless one day alone holds more than 1/limit emails', () => {
    fc.assert(
      fc.property(anyJudged, ({ policy, situation }) => {
        const { mode } = situation;
        fc.pre(policy.minBounces >= 2 && isWarmupMode(mode));
        const most = isWarmupMode(mode) ? Math.ceil(1e6 / policy.limitsPpm[mode]) : 0;
        const rows = situation.rows?.map((one) => ({ ...one, sent: one.sent && Math.min(one.sent, most) })) ?? null;
        const [short, long] = [flat(policy), policy].map((knobs) => judge(knobs, withRows(situation, rows)));
        if (!short || !long) return;
        if (acts(short) && long.action !== 'hold') expect(long.action).toBe(short.action);
      }),
      runs,
    );
  });

  test('its extension never hides a breach behind one busy day', () => {
    const slow = situation({ mode: 'slow', rows: daysUpTo(today, [400, 0], ...times(5, 0), [10, 1], [10, 1]) });
    expect(judge(flat(defaultPolicy), slow)).toMatchObject({ action: 'recovery', sent: 20, bounced: 2 });
    expect(judge(defaultPolicy, slow)).toMatchObject({ action: 'recovery' });
    // Every email of the week bounced: no more bounces than emails, so the counts make sense.
    const all = situation({ mode: 'slow', rows: daysUpTo(today, [400, 0], ...times(5, 0), [1, 1], [1, 1]) });
    expect(judge(defaultPolicy, all)).toMatchObject({ action: 'recovery', sent: 2, bounced: 2 });
  });

  test('it holds exactly the days that it names, within its bounds and not before the evidence began', () => {
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
      runs,
    );
    expect(checked).toBeGreaterThanOrEqual(runs.numRuns);
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
