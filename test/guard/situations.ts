// Random situations for the guard, rich in edges: limits exactly met, doubled, missing, future and unreadable rows.
import fc from 'fast-check';
import type { StatsRow } from '../../src/core/answers.ts';
import type { Situation } from '../../src/core/guard/judge.ts';
import { defaultPolicy, isWarmupMode, type Policy, warmupModes } from '../../src/core/policy.ts';
import { addDays, dayMs, hourMs, utcDate } from '../../src/core/time.ts';
import type { EvidenceStart } from '../../src/core/verdict.ts';
import { now, row } from './samples.ts';

export interface Judged {
  readonly policy: Policy;
  readonly situation: Situation;
}

const often = <Value>(usual: Value, other: fc.Arbitrary<Value>) =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: other });

const limitPpm = fc.constantFrom(1, 700, 3_000, 5_000, 7_000, 10_000, 20_000, 33_333, 500_000, 1_000_000);

/** Every knob, within what the configuration accepts. */
const anyPolicy: fc.Arbitrary<Policy> = fc
  .record({
    windowDays: often(7, fc.integer({ min: 1, max: 12 })),
    extraDays: often(23, fc.integer({ min: 0, max: 30 })),
    minBounces: often(2, fc.integer({ min: 1, max: 4 })),
    onBreach: often<Policy['onBreach']>('recovery', fc.constantFrom('pause', 'alert')),
    onRecoveryBreach: often<Policy['onRecoveryBreach']>('pause', fc.constant('alert')),
    burst: often<Policy['burst']>('alert', fc.constant('act')),
    emergency: fc.record({
      minBounces: often(3, fc.integer({ min: 1, max: 6 })),
      ratePpm: often(100_000, fc.constantFrom(1, 50_000, 250_000, 1_000_000)),
      days: often(2, fc.integer({ min: 1, max: 7 })),
    }),
    interventions: often(3, fc.integer({ min: 1, max: 4 })),
    staleAfterDays: often(2, fc.integer({ min: 1, max: 6 })),
    limitsPpm: fc.oneof(
      fc.constant(defaultPolicy.limitsPpm),
      fc.record({ slow: limitPpm, balanced: limitPpm, aggressive: limitPpm, recovery: limitPpm }),
    ),
  })
  .map(({ extraDays, interventions, ...knobs }) => ({
    ...defaultPolicy,
    ...knobs,
    windowMaxDays: knobs.windowDays + extraDays,
    maxInterventions: { count: interventions, days: 60 },
  }));

const sentCount = fc.oneof(fc.constantFrom(0, 1, 2, 10, 20, 40, 50, 100), fc.integer({ min: 0, max: 400 }));
const bouncedCount = fc.oneof(
  { weight: 12, arbitrary: fc.constant(0) },
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 2 }) },
  { weight: 1, arbitrary: fc.integer({ min: 3, max: 60 }) },
);
const badCount = fc.constantFrom<(number | null)[]>(null, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, -0.0);
/** What a row says besides its counts: mostly nothing. */
const saidOfDay = often<Partial<Pick<StatsRow, 'bounceRatePercent' | 'delivered'>>>(
  {},
  fc.oneof(
    fc.constantFrom(0, 0.5, 2.5, 5, 9, 50, 100, 120).map((bounceRatePercent) => ({ bounceRatePercent })),
    fc.constantFrom(0, 1, 10, 18, 36, 40, 95).map((delivered) => ({ delivered })),
  ),
);
const dayRow = (age: number, today: string) =>
  fc
    .record({ sent: sentCount, bounced: bouncedCount, by: saidOfDay })
    .map(({ sent, bounced, by }) => ({ ...row(addDays(today, -age), sent, bounced), ...by }));

/** A row that is odd in one way: unreadable, undated, in the future, or a second one of a day. */
const oddRow = (today: string): fc.Arbitrary<StatsRow> =>
  fc.oneof(
    fc
      .tuple(fc.integer({ min: 0, max: 40 }), sentCount, bouncedCount)
      .map(([age, sent, bounced]) => row(addDays(today, -age), sent, bounced)),
    fc
      .tuple(fc.integer({ min: 0, max: 40 }), badCount, bouncedCount)
      .map(([age, sent, bounced]) => row(addDays(today, -age), sent, bounced)),
    fc
      .tuple(fc.integer({ min: 0, max: 12 }), sentCount, badCount)
      .map(([age, sent, bounced]) => row(addDays(today, -age), sent, bounced)),
    fc
      .tuple(fc.integer({ min: 1, max: 3 }), sentCount, bouncedCount)
      .map(([ahead, sent, bounced]) => row(addDays(today, ahead), sent, bounced)),
    fc.constantFrom(null, '', '2025-02-30', '20.03.2025', '2025-3-1').map((date) => row(date, 20, 1)),
  );

const byDate = (a: StatsRow, b: StatsRow) => ((a.date ?? '') < (b.date ?? '') ? -1 : 1);

/** Days up to today: mostly whole, with holes, with few or without rows, or long over. Half of them in order, as the API sends them. */
export function rowsUpTo(today: string): fc.Arbitrary<StatsRow[]> {
  const span = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({ newest: fc.constantFrom(0, 0, 0, -1, 1), length: fc.integer({ min: 1, max: 38 }) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ newest: fc.integer({ min: 1, max: 9 }), length: fc.integer({ min: 0, max: 10 }) }),
    },
  );
  const plain = span.chain(({ newest, length }) =>
    fc.tuple(...Array.from({ length }, (_, index) => dayRow(newest + index, today))),
  );
  const holes = fc.array(fc.boolean(), { maxLength: 30 });
  const odd = fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.array(oddRow(today), { minLength: 1, maxLength: 3 }) },
  );
  return fc
    .tuple(plain, fc.oneof(fc.constant([]), holes), odd, fc.boolean())
    .map(([rows, missing, more, areOrdered]) => {
      const all = [...rows.filter((_, index) => !missing[index]), ...more];
      return areOrdered ? all.sort(byDate) : all;
    });
}

const start = (today: string): fc.Arbitrary<EvidenceStart> =>
  fc.record({
    from: fc.integer({ min: -2, max: 32 }).map((age) => addDays(today, -age)),
    before: fc.option(fc.record({ sent: sentCount, bounced: bouncedCount })),
  });

/** Moves the newest day's emails so that the first window meets the limit exactly, or misses it by one email. */
function meetLimit({ policy, situation }: Judged, offBy: number): Judged {
  const { rows, mode } = situation;
  const newest = rows?.find((one) => one.date === utcDate(situation.now));
  if (!rows || !newest || !isWarmupMode(mode)) return { policy, situation };
  const from = addDays(utcDate(situation.now), 1 - policy.windowDays);
  const others = rows.filter((one) => one !== newest && one.date !== null && one.date >= from);
  const sum = (key: 'sent' | 'bounced') => others.reduce((total, one) => total + (one[key] ?? 0), 0);
  const bounced = sum('bounced') + (newest.bounced ?? 0);
  const sent = Math.round((bounced * 1e6) / policy.limitsPpm[mode]) + offBy - sum('sent');
  if (!Number.isSafeInteger(sent) || sent < 0 || sent > 1e6) return { policy, situation };
  return { policy, situation: { ...situation, rows: rows.map((one) => (one === newest ? { ...one, sent } : one)) } };
}

const moment = fc.record({ day: fc.integer({ min: 0, max: 13 }), hour: fc.integer({ min: 0, max: 23 }) });

const anySituation: fc.Arbitrary<Situation> = moment.chain(({ day, hour }) => {
  const at = Math.floor(now / dayMs) * dayMs + day * dayMs + hour * hourMs;
  const today = utcDate(at);
  return fc.record({
    mode: fc.oneof(
      { weight: 9, arbitrary: fc.constantFrom<(string | null)[]>(...warmupModes) },
      { weight: 1, arbitrary: fc.constantFrom(null, '', 'turbo', 'Slow', '__proto__') },
    ),
    run: often<Situation['run']>('running', fc.constantFrom('running', 'unknown', 'paused', 'not_running')),
    unjudgedSince: fc.option(fc.integer({ min: 0, max: 9 }).map((age) => addDays(today, -age))),
    weekdaysOnly: fc.boolean(),
    rows: fc.option(rowsUpTo(today), { freq: 30 }),
    now: fc.constant(at),
    statsAt: fc.constant(at),
    evidence: fc.option(start(today)),
    emergencyEvidence: fc.option(start(today), { freq: 3 }),
    foundBreachAt: fc.option(fc.integer({ min: 0, max: 9 * 24 }).map((hours) => at - hours * hourMs)),
    recentInterventions: fc.integer({ min: 0, max: 3 }),
    firstSight: often(false, fc.boolean()),
    claim: fc.constant(null),
    contested: fc.constant(false),
    expectsEmails: fc.boolean(),
    lost: fc.option(
      fc
        .record({ age: fc.integer({ min: 0, max: 6 }), sent: fc.integer({ min: 1, max: 300 }) })
        .map(({ age, sent }) => ({
          from: addDays(today, -age - 5),
          to: addDays(today, -age),
          sent,
        })),
      { freq: 1, nil: null },
    ),
  });
});

export const anyJudged: fc.Arbitrary<Judged> = fc
  .tuple(fc.record({ policy: anyPolicy, situation: anySituation }), fc.constantFrom(null, null, null, -1, 0, 1))
  .map(([judged, offBy]) => (offBy === null ? judged : meetLimit(judged, offBy)));
