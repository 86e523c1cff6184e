// How urgently a mailbox's statistics are read again, and what of each answer that rests on.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { armedBounces, mayCrossToday, type Risk, riskOf, weightOf } from '../../src/api/poll/risk.ts';
import { dayMs, utcDate } from '../../src/core/time.ts';
import { row } from '../guard/samples.ts';
import { arrivedMailbox, now, verdictOf } from '../store/records.ts';

const risk = fc.record({
  sendsPerDay: fc.integer({ min: 0, max: 500 }),
  sendsLeftToday: fc.integer({ min: 0, max: 500 }),
  bouncesLeft: fc.oneof(fc.constant(armedBounces), fc.integer({ min: 1, max: 50 })),
});

test('who sends more weighs no less, who has more bounces left weighs no more, and no weight is negative or endless', () => {
  fc.assert(
    fc.property(risk, fc.integer({ min: 1, max: 50 }), (one: Risk, more) => {
      const weight = weightOf(one);
      expect(Number.isFinite(weight) && weight >= 0).toBe(true);
      expect(weightOf({ ...one, sendsPerDay: one.sendsPerDay + more })).toBeGreaterThanOrEqual(weight);
      expect(weightOf({ ...one, bouncesLeft: one.bouncesLeft + more })).toBeLessThanOrEqual(weight);
    }),
  );
});

test('a limit that takes more bounces than emails are left today can not be crossed today', () => {
  expect(mayCrossToday({ sendsPerDay: 40, sendsLeftToday: 3, bouncesLeft: 4 })).toBe(false);
  expect(mayCrossToday({ sendsPerDay: 40, sendsLeftToday: 4, bouncesLeft: 4 })).toBe(true);
  expect(mayCrossToday({ sendsPerDay: 40, sendsLeftToday: Number.POSITIVE_INFINITY, bouncesLeft: 40 })).toBe(true);
});

test('the verdict says what is left: a rate over the limit without the sample is armed, a known breach is not', () => {
  const mailbox = arrivedMailbox('m');
  const judged = (change: object) => ({ ...mailbox, verdict: { at: now, answer: { ...verdictOf(), ...change } } });
  const left = (change: object) => riskOf(judged(change), 2, now)?.bouncesLeft;
  expect(riskOf(mailbox, 2, now)).toBeNull();
  expect(left({ reason: 'ok', bouncesUntilBreach: 3 })).toBe(3);
  expect(left({ reason: 'ok', bouncesUntilBreach: null })).toBe(2);
  expect(left({ reason: 'insufficient_evidence', bouncesUntilBreach: 1 })).toBe(armedBounces);
  expect(left({ reason: 'bounce_rate_over_limit', bouncesUntilBreach: 0 })).toBe(1);
  expect(riskOf(judged({ run: 'paused' }), 2, now)).toMatchObject({ sendsPerDay: 0, sendsLeftToday: 0 });
});

test('what may still be sent counts what was sent today, from zero on each day', () => {
  const rows = [row(utcDate(now - dayMs), 30, 0), row(utcDate(now), 12, 0)];
  const { entry, ...mailbox } = { ...arrivedMailbox('m'), verdict: { at: now, answer: verdictOf() } };
  const limited = { ...mailbox, entry: { ...entry, answer: { ...entry.answer, dailyLimit: 40 } } };
  const left = (at: number) => riskOf({ ...limited, stats: { at: now, answer: { rows } } }, 2, at)?.sendsLeftToday;
  expect([left(now - dayMs), left(now), left(now + dayMs), left(now)]).toEqual([10, 28, 40, 28]);
});
