// What a mailbox was allowed to send on its last days: the highest that was seen, and nothing where nobody looked.
import { expect, test } from 'vitest';
import type { MailboxEntry, WarmupAnswer } from '../../src/core/answers.ts';
import { limitsAfter, limitsOn, type RecentLimits } from '../../src/core/policy.ts';

/** `entry` and `warmup`: the daily limit that each of them shows. */
function look(moment: string, entry: number | null, mode: string | null = 'balanced', warmup = entry) {
  return (before: RecentLimits): RecentLimits => {
    const at = Date.parse(`${moment}Z`);
    const answer = { dailyLimit: entry } as MailboxEntry;
    const other = { dailyLimit: warmup, mode } as WarmupAnswer;
    return limitsAfter(before, { entry: { at, answer }, warmup: { at, answer: other } }, at);
  };
}
type Look = ReturnType<typeof look>;
const after = (...looks: readonly Look[]) => looks.reduce<RecentLimits>((limits, one) => one(limits), []);
const calm = [look('2026-03-09T09:00', 39), look('2026-03-10T09:00', 40)] as const;

test('the highest of the day, the day before and the day after counts: nobody tells where a day of the API begins', () => {
  const limits = after(...calm, look('2026-03-10T12:00', 15, 'recovery'), look('2026-03-11T09:00', 16, 'recovery'));
  expect(limitsOn(limits, '2026-03-10')).toEqual({ daily: 40, mode: 40 });
  expect(limitsOn(limits, '2026-03-11')).toEqual({ daily: 40, mode: 40 });
  expect(limitsOn(limits, '2026-03-12')).toEqual({ daily: 16, mode: 15 });
  const later = look('2026-03-12T09:00', 17, 'recovery')(limits);
  expect(limitsOn(later, '2026-03-12')).toEqual({ daily: 17, mode: 15 });
});

test('the higher of two answers counts', () => {
  expect(limitsOn(after(...calm, look('2026-03-10T10:00', 15, 'balanced', 44)), '2026-03-10')?.daily).toBe(44);
});

test('of a day that was not watched from the day before on, nothing is known', () => {
  expect(limitsOn([], '2026-03-10')).toBeNull();
  expect(limitsOn(after(...calm), '2026-03-09')).toBeNull();
  const gap = after(...calm, look('2026-03-13T09:00', 40), look('2026-03-14T09:00', 40));
  expect(['2026-03-11', '2026-03-12', '2026-03-13'].map((day) => limitsOn(gap, day))).toEqual([null, null, null]);
  expect(limitsOn(gap, '2026-03-14')).toEqual({ daily: 40, mode: 40 });
  expect(limitsOn(gap, '2026-03-16')).toBeNull();
});

test('a mode that nobody knows has no maximum that day; what could not be read changes nothing', () => {
  const turbo = after(...calm, look('2026-03-10T10:00', 60, 'turbo'), look('2026-03-10T11:00', 40));
  expect(limitsOn(turbo, '2026-03-10')).toEqual({ daily: 60, mode: null });
  const unread = look('2026-03-10T10:00', null, null);
  expect(unread(after(...calm))).toEqual(after(...calm));
  expect(limitsOn(after(look('2026-03-09T10:00', null, null), ...calm.slice(1)), '2026-03-10')).toEqual({
    daily: null,
    mode: null,
  });
});

test('days before the last three are forgotten', () => {
  const days = ['09', '10', '11', '12', '13'].map((day) => look(`2026-03-${day}T09:00`, 40));
  expect(after(...days).map(({ day }) => day)).toEqual(['2026-03-11', '2026-03-12', '2026-03-13']);
});

test('a look that shows nothing higher leaves it as it is', () => {
  const limits = after(...calm);
  expect(look('2026-03-10T15:00', 12, 'recovery')(limits)).toBe(limits);
});
