// The way back from recovery: clean days and clean emails since the later of the switch and the last bounce.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isRestoreDue, judge, restoreProgress, type Situation } from '../../src/core/guard/judge.ts';
import { readDays } from '../../src/core/guard/rows.ts';
import { defaultPolicy } from '../../src/core/policy.ts';
import { addDays, dayMs } from '../../src/core/time.ts';
import type { Claim } from '../../src/core/verdict.ts';
import { progressText } from '../../src/core/wording/explain.ts';
import { daysUpTo, now, row, situation, times, today } from './samples.ts';

const claim: Claim = {
  kind: 'recovery',
  actionId: 'a1',
  since: now - 20 * dayMs,
  previousMode: 'balanced',
  under: null,
};

/** In a recovery of ours since 20 days, 15 clean emails a day since. */
function recovering(change: Partial<Situation> = {}): Situation {
  const evidence = { from: addDays(today, -19), before: null };
  return situation({ mode: 'recovery', claim, evidence, rows: daysUpTo(today, ...times(20, 15)), ...change });
}

function verdictOn(change: Partial<Situation> = {}, policy = defaultPolicy) {
  const { action, reason } = judge(policy, recovering(change));
  return { action, reason };
}

const restored = { action: 'restore', reason: 'clean_volume' };

describe('a recovery of ours', () => {
  test('is set back by a bounce, and ends although that bounce is still in the window', () => {
    const withBounce = (daysAgo: number, sent = 15) => {
      const rows = daysUpTo(today, ...times(20, sent));
      return rows.map((one) => (one.date === addDays(today, -daysAgo) ? { ...one, bounced: 1 } : one));
    };
    const set = judge(defaultPolicy, recovering({ rows: withBounce(5) }));
    expect(set.restore).toMatchObject({ cleanDays: 4, cleanMails: 75 });
    // Both are needed: few emails a day take longer than the days.
    expect(progressText(set)).toMatch(/ after 100 clean emails \(75 so far\) and 3 more clean days\.$/);
    expect(verdictOn({ rows: withBounce(5, 40) }).action).toBe('none');
    expect(verdictOn({ rows: withBounce(8) })).toEqual(restored);
  });

  test('ends on no data that is old, broken or on hold', () => {
    const rows = daysUpTo(today, ...times(20, 15));
    expect(verdictOn({ rows: daysUpTo(addDays(today, -3), ...times(20, 15)) }).reason).toBe('stale_data');
    expect(verdictOn({ rows: null }).reason).toBe('bad_payload');
    expect(verdictOn({ rows: [] }).reason).toBe('no_data');
    expect(verdictOn({ rows: [...rows, row(null, 5, 0)] }).reason).toBe('invalid_row');
    expect(verdictOn({ rows: [...rows, row(addDays(today, -2), 5, null)] }).reason).toBe('invalid_row');
    // Outside the window, but inside the clean time: what is unknown is not clean.
    expect(verdictOn({ rows: [...rows, row(addDays(today, -15), 5, null)] })).toEqual({ action: 'none', reason: 'ok' });
    expect(verdictOn({ run: 'unknown' })).toEqual({ action: 'hold', reason: 'unknown_status' });
    expect(verdictOn({ contested: true })).toEqual({ action: 'hold', reason: 'contested' });
    for (const run of ['paused', 'not_running'] as const) expect(verdictOn({ run }).action).toBe('none');
  });

  test('ends only with a claim on a recovery, and a mode to go back to', () => {
    const others: (Claim | null)[] = [
      null,
      { ...claim, kind: 'pause' },
      ...[null, 'turbo', 'recovery'].map((previousMode) => ({ ...claim, previousMode })),
    ];
    // Clean emails enough for any mode.
    const rows = daysUpTo(today, ...times(20, 40));
    expect(verdictOn({ rows })).toEqual(restored);
    for (const other of others)
      expect(judge(defaultPolicy, recovering({ claim: other, rows }))).toMatchObject({
        ...{ action: 'none', reason: 'ok' },
        restore: null,
      });
    const { restore } = defaultPolicy;
    const never = { ...defaultPolicy, restore: { ...restore, enabled: false } };
    expect(verdictOn({}, never)).toEqual({ action: 'none', reason: 'ok' });
  });

  test('takes as many days and emails as the policy says', () => {
    const slower = { ...defaultPolicy, restore: { enabled: true, days: 21, cleanVolume: 3 } };
    expect(verdictOn({}, slower).action).toBe('none');
    expect(judge(slower, recovering()).restore).toMatchObject({ neededDays: 21, neededMails: 300 });
  });
});

const counts = fc.record({ sent: fc.nat({ max: 40 }), bounced: fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2) });

test('a restore is due exactly when the days since the switch and the last bounce say so', () => {
  const past = fc.record({
    days: fc.array(counts, { minLength: 1, maxLength: 30 }),
    evidenceDaysAgo: fc.integer({ min: 0, max: 29 }),
    previousMode: fc.constantFrom('slow', 'balanced', 'aggressive' as const),
  });
  fc.assert(
    fc.property(past, ({ days, evidenceDaysAgo, previousMode }) => {
      const rows = days.map(({ sent, bounced }, daysAgo) => row(addDays(today, -daysAgo), sent, bounced));
      const given = {
        claim: { ...claim, previousMode, since: now - (evidenceDaysAgo + 1) * dayMs },
        evidenceFrom: addDays(today, -evidenceDaysAgo),
        now,
      };
      const progress = restoreProgress(readDays(rows, now), defaultPolicy, given);
      // Counted another way: back from today until a bounce or the switch ends it.
      let [wholeDays, emails] = [-1, 0];
      for (let daysAgo = 0; daysAgo <= evidenceDaysAgo; daysAgo += 1) {
        const day = days[daysAgo];
        if (day && day.bounced > 0) break;
        wholeDays += 1;
        emails += day?.sent ?? 0;
      }
      const needed = { slow: 200, balanced: 100, aggressive: 50 }[previousMode] ?? 0;
      expect(progress).toMatchObject({ cleanDays: Math.max(0, wholeDays), cleanMails: emails, neededMails: needed });
      expect(isRestoreDue(progress)).toBe(wholeDays >= 7 && emails >= needed);
    }),
    { numRuns: 2_000 },
  );
});
