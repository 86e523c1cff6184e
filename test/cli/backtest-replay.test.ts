// The replay that a backtest rests on: the guard day by day, with its memory, over rows that each test writes down.
import { expect, test } from 'vitest';
import { type Past, replayGuard } from '../../src/core/guard/replay.ts';
import { defaultPolicy } from '../../src/core/policy.ts';
import { addDays, dayMs } from '../../src/core/time.ts';
import { row as rowOf } from '../guard/samples.ts';

const firstDay = '2026-01-05';

const row = (day: number, sent: number | null, bounced: number | null) => rowOf(addDays(firstDay, day), sent, bounced);

/** `days` days of 40 emails, with bounces on some of them, by day. */
function pastOf(days: number, bounces: Readonly<Record<number, number>>, given: Partial<Past> = {}): Past {
  return {
    mode: 'balanced',
    weekdaysOnly: false,
    rows: Array.from({ length: days }, (_, day) => row(day, 40, bounces[day] ?? 0)),
    now: Date.parse(`${firstDay}T12:00:00Z`) + (days - 1) * dayMs,
    ...given,
  };
}

const story = (past: Past, policy = defaultPolicy) =>
  replayGuard(policy, past).actions.map(({ date, kind, verdict }) => `${date} ${kind} ${verdict.reason}`);

test('after a switch fifteen emails a day leave, until a week and 100 clean emails bring the mode back', () => {
  const replay = replayGuard(defaultPolicy, pastOf(30, { 10: 5 }));
  // 8 days of 15 from 16 January on: seven of them are over, and 120 emails are clean.
  expect(story(pastOf(30, { 10: 5 }))).toEqual([
    '2026-01-15 recovery bounce_rate_over_limit',
    '2026-01-23 restore clean_volume',
  ]);
  expect(replay).toMatchObject({ interventions: 1, daysInRecovery: 8, sendsLost: 8 * 25, bouncesAvoided: 0 });
});

test('the old bounces do not fire again, and new ones in recovery end in a pause that stays', () => {
  const past = pastOf(40, { 10: 5, 13: 4, 15: 4, 30: 6 });
  expect(story(past)).toEqual([
    '2026-01-15 recovery bounce_rate_over_limit',
    '2026-01-20 pause bounce_rate_over_limit',
  ]);
  const replay = replayGuard(defaultPolicy, past);
  // 15 of 40 emails keep 1.5 bounces of 4: 1, then 2 with what was left over. From 21 January on none.
  expect(replay).toMatchObject({ interventions: 2, daysInRecovery: 5, daysPaused: 24 });
  expect(replay.bouncesAvoided).toBe(3 + 2 + 6);
  expect(replay.sendsLost).toBe(5 * 25 + 24 * 40);
});

test.each([
  ['a clean past is left alone', pastOf(90, {}), []],
  ['an emergency pauses at once', pastOf(20, { 10: 9 }), ['2026-01-15 pause emergency']],
  [
    'a mailbox that is in recovery today is judged by that limit on all days, and never restored',
    pastOf(40, { 10: 1, 12: 1 }, { mode: 'recovery' }),
    ['2026-01-17 pause bounce_rate_over_limit'],
  ],
])('%s', (_, past, actions) => {
  expect(story(past)).toEqual(actions);
});

test('days without a row count as no mail, and rows in any order are the same past', () => {
  const whole = pastOf(30, { 10: 5 });
  const rows = whole.rows.filter((_, day) => day !== 3 && day !== 4);
  const expected = replayGuard(defaultPolicy, { ...whole, rows });
  expect(replayGuard(defaultPolicy, { ...whole, rows: rows.toReversed() })).toEqual(expected);
  expect(expected).toMatchObject({ from: '2026-01-05', to: '2026-02-03', sent: 28 * 40, interventions: 1 });
});

test('an unreadable day holds the guard for the week in which it counts, an undated row for ever', () => {
  const unreadable = pastOf(30, { 10: 5 });
  const rows = unreadable.rows.with(9, row(9, null, null));
  const held = replayGuard(defaultPolicy, { ...unreadable, rows });
  expect(held).toMatchObject({ daysHeld: 7, interventions: 1 });
  expect(held.actions[0]?.date).toBe('2026-01-21');
  const undated = { ...row(0, 5, 0), date: null };
  expect(replayGuard(defaultPolicy, { ...unreadable, rows: [...unreadable.rows, undated] })).toMatchObject({
    daysHeld: 30,
    actions: [],
  });
});

test('in a mode that nobody knows the days are held, and only an emergency acts', () => {
  const unknown = { mode: 'turbo' };
  expect(replayGuard(defaultPolicy, pastOf(10, { 5: 3 }, unknown))).toMatchObject({ daysHeld: 10, actions: [] });
  expect(story(pastOf(10, { 5: 30 }, unknown))).toEqual(['2026-01-10 pause emergency']);
});
