// Answers that say again what a mailbox was judged by: which of them need no judgement, and what is shown of those.
import { expect, test } from 'vitest';
import type { Observation } from '../../src/account/record/observe.ts';
import { Repeats } from '../../src/account/record/repeats.ts';
import type { Tick } from '../../src/account/record/tick.ts';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import type { MailboxState } from '../../src/core/mailbox.ts';
import { defaultPolicy } from '../../src/core/policy.ts';
import { defaultRuleSettings } from '../../src/core/rule-settings.ts';
import { hourMs, minuteMs, secondMs } from '../../src/core/time.ts';
import { actionOf, alertOf, answers, arrivedMailbox, dayRow, memory, now, verdictOf } from '../store/records.ts';
import { answerOf, recording, statsOfToday } from './recording.ts';

const grounds = { policy: defaultPolicy, rules: defaultRuleSettings };
const verdict = verdictOf();
const mailbox = arrivedMailbox('m1', { ...answers, memory, verdict: { at: now, answer: verdict } });
const calm = { mailbox, verdict, changes: [], decision: null, actions: [], confirmed: null, late: null, breaker: null };

/** The same statistics as the mailbox has, read at a moment. */
const statsAt = (at: number): Observation => ({ route: 'stats', observed: { at, answer: answers.stats.answer } });

/** What comes of those a moment after a judgement. */
function after(
  tick: Tick,
  { ms = secondMs, before = tick.mailbox, on = grounds, fleet = new Fleet() } = {},
): MailboxState | null {
  const repeats = new Repeats(fleet);
  repeats.judged(tick, grounds, now);
  return repeats.of(before, statsAt(now + ms), on, now + ms);
}

test('an answer that says again what was judged brings its time, and the verdict as of then', () => {
  const at = now + secondMs;
  const stats = { at, answer: answers.stats.answer };
  expect(after(calm)).toEqual({ ...mailbox, stats, verdict: { at, answer: { ...verdict, dataAgeMs: 0 } } });
});

test('the same answers are judged again after five minutes, and on another day', () => {
  expect(after(calm, { ms: 5 * minuteMs - 1 })).not.toBeNull();
  expect([after(calm, { ms: 5 * minuteMs }), after(calm, { ms: -minuteMs })]).toEqual([null, null]);
  const lateInTheDay = new Repeats(new Fleet());
  const midnight = Date.UTC(2026, 2, 11);
  lateInTheDay.judged(calm, grounds, midnight - secondMs);
  expect(lateInTheDay.of(mailbox, statsAt(midnight), grounds, midnight)).toBeNull();
  expect(lateInTheDay.of(mailbox, statsAt(midnight - 1), grounds, midnight - 1)).not.toBeNull();
});

test('whatever a judgement rests on has to be as it was', () => {
  const equal = { ...answers.stats, answer: { rows: [dayRow] } };
  const others: readonly MailboxState[] = [
    { ...mailbox, stats: equal },
    { ...mailbox, warmup: structuredClone(answers.warmup) },
    { ...mailbox, memory: { ...memory } },
    { ...mailbox, action: actionOf('m1') },
    { ...mailbox, entry: { ...mailbox.entry } },
    { ...mailbox, detail: null },
  ];
  expect(others.map((before) => after(calm, { before }))).toEqual(others.map(() => null));
  expect(after(calm, { on: { ...grounds, policy: { ...defaultPolicy } } })).toBeNull();
  expect(after(calm, { on: { ...grounds, rules: { ...defaultRuleSettings } } })).toBeNull();
});

test('what a judgement led to is looked at again with the next answer', () => {
  const ticks: readonly Tick[] = [
    { ...calm, verdict: verdictOf({ action: 'hold', reason: 'stale_data' }) },
    { ...calm, verdict: verdictOf({ action: 'pause', reason: 'emergency' }) },
    { ...calm, verdict: null },
    { ...calm, actions: [actionOf('m1')] },
    { ...calm, mailbox: { ...mailbox, memory: { ...memory, answersJudged: 1 } } },
  ];
  expect(ticks.map((tick) => after(tick))).toEqual(ticks.map(() => null));
});

test('a mailbox with an alert is judged with each answer, until the alert has ended', () => {
  const fleet = new Fleet();
  const alert = alertOf('m1', { status: 'pending' });
  fleet.putAlert(alert);
  fleet.putAlert({ ...alert, seen: 2 });
  expect(after(calm, { fleet })).toBeNull();
  fleet.removeAlert(alert.fingerprint);
  fleet.putAlert(alertOf('m2'));
  expect(after(calm, { fleet })).not.toBeNull();
});

test('a recorder shows a repeated answer at once, writes it every five minutes, and judges what is new', async () => {
  await using stage = await recording(['m1'], 500);
  const warmup = answerOf('warmup', now);
  const stats = statsOfToday(10);
  const read = async () => {
    const at = stage.clock.now();
    await stage.answered('m1', { ...stats, observed: { ...stats.observed, at } } as Observation);
  };
  await stage.answered('m1', warmup);
  for (let seconds = 0; seconds <= 310; seconds += 10) {
    await read();
    await stage.clock.advance(10 * secondMs);
    expect(stage.mailbox('m1')?.stats?.at).toBe(stage.clock.now() - 10 * secondMs);
  }
  const judgedBefore = stage.mailbox('m1')?.memory?.answersJudged ?? 0;
  // Every 15 s the account writes, and what is written is judged.
  expect(judgedBefore).toBeLessThan(20);
  const stored = await stage.stored('m1');
  expect(stage.clock.now() - (stored?.stats?.at ?? 0)).toBeLessThan(minuteMs);
  const { verdict } = stage.mailbox('m1') ?? expect.fail();
  expect(stage.clock.now() - (verdict?.at ?? 0)).toBe(10 * secondMs);
  await stage.clock.advance(hourMs);
  await read();
  await stage.clock.advance(secondMs);
  expect(stage.mailbox('m1')?.memory?.answersJudged).toBe(judgedBefore + 1);
});
