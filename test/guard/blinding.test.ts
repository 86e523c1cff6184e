// What a mailbox's status and mode may do without blinding the guard: nothing that lasts. Through the steps of the watch.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Observation } from '../../src/account/record/observe.ts';
import { addDays, dayMs, type EpochMs, hourMs, minuteMs, utcDate } from '../../src/core/time.ts';
import { isBlind, type Verdict } from '../../src/core/verdict.ts';
import { answered, daysUpTo, listedMailbox, row, times, words as usualWords, warmupAnswer } from './samples.ts';

const words = { ...usualWords, notRunning: ['pending'] };
/** A Monday, at midnight. */
const monday = Date.parse('2025-03-17T00:00:00Z');
const lookEveryMs = 15 * minuteMs;
/** How long it takes until an alert about blindness fires. */
const blindForMs = hourMs;
const [emailsADay, bouncesADay] = [40, 3];
const [opensAt, closesAt] = [8 * hourMs, 18 * hourMs];

/** What the API says at a moment. */
type Said = (at: EpochMs) => { readonly mode: string | null; readonly status: string | null };

/** The rows of a mailbox that sends between two hours of each day, whatever is said of it, and of whose emails some bounce. */
function rowsAt(at: EpochMs) {
  const quiet = daysUpTo(utcDate(monday - dayMs), ...times(20, emailsADay));
  const days = Math.floor((at - monday) / dayMs);
  const share = Math.min(1, Math.max(0, ((at - monday) % dayMs) - opensAt) / (closesAt - opensAt));
  const living = Array.from({ length: days + 1 }, (_, day) => {
    const part = day === days ? share : 1;
    return row(addDays(utcDate(monday), day), Math.floor(emailsADay * part), Math.floor(bouncesADay * part));
  });
  return [...quiet, ...living];
}

interface Watched {
  /** Days of emails, each of its own date, until the guard acted or showed for an hour that it cannot judge. */
  readonly sendingDays: number;
  /** The longest row of such days on which no look was judged on any counts. */
  readonly unjudgedDays: number;
  readonly verdict: Verdict | null;
}

const isJudged = ({ reason, sent, limitPpm }: Verdict) =>
  !['already_paused', 'not_running'].includes(reason) && !isBlind(reason) && limitPpm !== null && sent > 0;

/** Looks every 15 minutes from Monday on, until the guard acts or is lit. */
function watch(said: Said, days = 8): Watched {
  let mailbox = listedMailbox(monday);
  let [verdict, blindSince]: [Verdict | null, EpochMs | null] = [null, null];
  let [judgedOn, unjudgedDays] = [-1, 0];
  for (let at = monday + minuteMs; at < monday + days * dayMs; at += lookEveryMs) {
    const { mode, status } = said(at);
    const answers: readonly Observation[] = [
      { route: 'warmup', observed: { at, answer: warmupAnswer(mode, status) } },
      { route: 'stats', observed: { at, answer: { rows: rowsAt(at) } } },
    ];
    for (const answer of answers) {
      const after = answered(mailbox, answer, words);
      mailbox = after.mailbox;
      if (!after.verdict) continue;
      verdict = after.verdict;
      blindSince = isBlind(verdict.reason) ? (blindSince ?? at) : null;
      const today = Math.floor((at - monday) / dayMs);
      if (isJudged(verdict)) judgedOn = today;
      if ((at - monday) % dayMs > opensAt) unjudgedDays = Math.max(unjudgedDays, today - judgedOn);
      const isLit = blindSince !== null && at - blindSince >= blindForMs;
      if (isLit || verdict.action === 'recovery' || verdict.action === 'pause') {
        const sendsToday = (at - monday) % dayMs > opensAt;
        return { sendingDays: today + (sendsToday ? 1 : 0), unjudgedDays, verdict };
      }
    }
  }
  return { sendingDays: Number.POSITIVE_INFINITY, unjudgedDays, verdict };
}

const hourOf = (at: EpochMs) => Math.floor((at % dayMs) / hourMs);
const dayOf = (at: EpochMs) => Math.floor((at - monday) / dayMs);
const active = (mode: string) => ({ mode, status: 'active' });
const balanced = (status: string | null) => ({ mode: 'balanced', status });

test.each<[string, Said]>([
  ['that runs', () => balanced('active')],
  ['that is paused at night', (at) => balanced(hourOf(at) >= 6 && hourOf(at) < 18 ? 'active' : 'paused')],
  ['that is paused every other hour', (at) => balanced(hourOf(at) % 2 === 0 ? 'active' : 'paused')],
  ['that is said to be pending for one hour a day', (at) => balanced(hourOf(at) === 12 ? 'pending' : 'active')],
  ['whose mode is misread for one hour a day', (at) => active(hourOf(at) === 12 ? 'slow' : 'balanced')],
  ['whose mode alternates daily', (at) => active(dayOf(at) % 2 === 0 ? 'balanced' : 'slow')],
  ['whose mode alternates every look', (at) => active(Math.floor(at / lookEveryMs) % 2 ? 'recovery' : 'balanced')],
])('a mailbox of which 3 of 40 emails bounce %s is acted on at most a day later than one that runs', (_, said) => {
  const [plain, toggled] = [watch(() => balanced('active')), watch(said)];
  expect(plain).toMatchObject({ sendingDays: 1, verdict: { action: 'recovery' } });
  expect(toggled.sendingDays).toBeLessThanOrEqual(plain.sendingDays + 1);
  expect(['recovery', 'pause']).toContain(toggled.verdict?.action);
});

const anySegment = fc.record({
  mode: fc.constantFrom(...([null, 'turbo', 'slow', 'balanced', 'aggressive', 'recovery'] as const)),
  status: fc.constantFrom(...([null, 'active', 'paused', 'pending', 'halted', 'At Risk'] as const)),
  looks: fc.oneof(fc.integer({ min: 1, max: 8 }), fc.constantFrom(24, 48, 96)),
});

test('no sequence of modes and status words keeps it unjudged and unlit for more than two sending days', () => {
  fc.assert(
    fc.property(fc.array(anySegment, { minLength: 1, maxLength: 5 }), (segments) => {
      const cycle = segments.flatMap(({ looks, ...said }) => Array.from({ length: looks }, () => said));
      const said: Said = (at) => cycle[Math.floor((at - monday) / lookEveryMs) % cycle.length] ?? balanced('active');
      const { sendingDays, unjudgedDays } = watch(said);
      expect(unjudgedDays).toBeLessThanOrEqual(3);
      expect(sendingDays).toBeLessThanOrEqual(4);
    }),
    { numRuns: process.env['WARMWARDEN_SLOW'] ? 3_000 : 50 },
  );
});
