// The guard's one word for a mailbox: a rate over the limit is never called near it, nor fine. What the status word of a warm-up means. The
// alert about a burst, whose days and limit the oracle knows (oracle.test.ts), and what a verdict says of the data that it rests on.
import { expect, test } from 'vitest';
import { bounceBurst } from '../../src/alerts/rules/bounce-rules.ts';
import type { GuardActionKind } from '../../src/core/action.ts';
import type { StatsRow } from '../../src/core/answers.ts';
import { judge, type Situation } from '../../src/core/guard/judge.ts';
import { guardStateOf, runStateOf, type StatusWords, wordState } from '../../src/core/guard/run-state.ts';
import type { MailboxState } from '../../src/core/mailbox.ts';
import { defaultPolicy, type Policy } from '../../src/core/policy.ts';
import { addDays, minuteMs } from '../../src/core/time.ts';
import type { Claim, Reason, Verdict } from '../../src/core/verdict.ts';
import { judged, sampleContext } from '../alerts/samples.ts';
import { mailbox } from '../web/example-fleet.ts';
import { daysUpTo, now, row, situation, times, today } from './samples.ts';

// Its verdicts are of another time than the example's statistics.
const connected = { ...mailbox('m1', 'a@b.example'), stats: null };

type Days = readonly (readonly [number, number])[];

function verdictOn(mode: string, days: Days, change: Partial<Situation> = {}, policy: Partial<Policy> = {}) {
  return judge({ ...defaultPolicy, ...policy }, situation({ mode, rows: daysUpTo(today, ...days), ...change }));
}

function stateWith(answer: Verdict, change: Partial<MailboxState> = {}) {
  const shown = { ...connected, verdict: { at: now, answer }, memory: null, ...change };
  return guardStateOf(shown, defaultPolicy.nearLimitPpm, false);
}

const stateOf = (mode: string, days: Days, policy: Partial<Policy> = {}) =>
  stateWith(verdictOn(mode, days, {}, policy));

test('a rate over the limit with too few bounces to act is over_limit, at the limit near_limit', () => {
  expect(stateOf('slow', [...times(6, 14), [1, 1]])).toBe('over_limit');
  expect(stateOf('slow', [...times(6, 33), [2, 1]])).toBe('near_limit');
  expect(stateOf('slow', [...times(6, 33), [1, 1]])).toBe('over_limit');
  expect(stateOf('slow', [...times(6, 40), [11, 1]])).toBe('ok');
  expect(stateOf('recovery', [...times(7, 15), [15, 1]])).toBe('over_limit');
});

test('a breach is held while an action is wanted, and over_limit where the configuration asks for an alert only', () => {
  const breach = [...times(6, 40), [40, 4]] as const;
  expect(stateOf('balanced', breach)).toBe('held');
  expect(stateOf('balanced', breach, { onBreach: 'alert' })).toBe('over_limit');
});

test('from its confirmation on, an action shows what it did, and not that it is still to come', () => {
  const breach = [...times(6, 40), [40, 4]] as const;
  const of = (action: GuardActionKind, claim: Claim | null) =>
    stateWith({ ...verdictOn('balanced', breach), action } as Verdict, { memory: { claim } as never });
  const recovery: Claim = { kind: 'recovery', actionId: 'a', since: now + 2, previousMode: 'balanced', under: null };
  const pause: Claim = { ...recovery, kind: 'pause', under: { ...recovery, since: now - 2 } };
  expect([of('recovery', null), of('recovery', recovery)]).toEqual(['held', 'recovering']);
  expect(of('recovery', { ...recovery, since: now - 2 })).toBe('held');
  expect([of('pause', recovery), of('pause', pause)]).toEqual(['held', 'paused_by_guard']);
  expect([of('restore', recovery), of('restore', null)]).toEqual(['recovering', 'ok']);
});

test('in a recovery of ours, over the limit says more than recovering', () => {
  const claim: Claim = { kind: 'recovery', actionId: 'a', since: now, previousMode: 'slow', under: null };
  const of = (bounced: number) =>
    stateWith(verdictOn('recovery', [...times(6, 15), [15, bounced]], { claim }), { memory: { claim } as never });
  expect(of(0)).toBe('recovering');
  expect(of(1)).toBe('over_limit');
});

test('a mailbox that is disconnected is never ok: it sends nothing; worse words stay', () => {
  const { detail, entry } = connected;
  if (!detail) throw new Error('the example is incomplete');
  const lost = { ...detail, answer: { ...detail.answer, connection: 'error', connectionError: 'IMAP' } } as const;
  const listed = { ...entry, answer: { ...entry.answer, status: 'disconnected' } };
  const calm = verdictOn('slow', times(7, 40));
  for (const change of [{ detail: lost }, { entry: listed }, { entry: listed, detail: null }])
    expect(stateWith(calm, change)).toBe('not_running');
  expect(stateWith(calm, { detail: null })).toBe('ok');
  expect(stateWith(verdictOn('slow', [...times(6, 33), [1, 1]]), { detail: lost })).toBe('over_limit');
});

test('a mailbox without statistics under an unknown status word is not ok', () => {
  const of = (run: Situation['run']) => {
    const answer = judge(defaultPolicy, situation({ mode: 'slow', rows: [], run }));
    return [answer.reason, stateWith(answer)];
  };
  expect(of('running')).toEqual(['no_data', 'ok']);
  expect(of('unknown')).toEqual(['no_data', 'not_judged']);
});

test('a reason whose judgement does not count is not judged, and one whose action waits is held', () => {
  const verdict = verdictOn('balanced', times(7, 40));
  const of = (reason: Reason) => stateWith({ ...verdict, reason, action: 'hold' });
  expect((['stale_data', 'contested', 'first_sight', 'circuit_breaker'] as const).map(of)).toEqual([
    'not_judged',
    'not_judged',
    'held',
    'held',
  ]);
});

test('a mailbox of which newer statistics were read than it was judged by is not judged', () => {
  const { stats } = mailbox('m1', 'a@b.example');
  const states = [0, 4, 6].map((minutes) =>
    stateWith(verdictOn('balanced', times(7, 40)), { stats: stats && { ...stats, at: now + minutes * minuteMs } }),
  );
  expect(states).toEqual(['ok', 'ok', 'not_judged']);
});

test('what blinds the guard is not judged, whatever the action says', () => {
  const verdict = verdictOn('balanced', times(7, 40));
  for (const reason of ['no_evidence', 'word_against_counts', 'implausible_counts'] as const)
    for (const action of ['none', 'hold'] as const)
      expect(stateWith({ ...verdict, reason, action })).toBe('not_judged');
});

const words: StatusWords = { paused: ['paused', 'on_hold'], running: ['active'], notRunning: ['suspended'] };

test('no word, spaces and a word that nobody listed say nothing', () => {
  const said = [null, '', '  ', 'hibernating', 'on hold', 'paused!', 'unpaused', '__proto__'];
  expect(said.map((word) => wordState(word, words))).toEqual(said.map(() => null));
});

const on = (age: number) => [row(addDays(today, -age), 1, 0)];
const silent = [row(today, 0, 0), row(addDays(today, -1), null, 0), row(null, 20, 0), row(today, -1, 0)];

test.each([
  ['a listed word, whatever the emails say', 'paused', on(0), 'paused'],
  ['a listed word, whatever the emails say', 'suspended', on(0), 'not_running'],
  ['a listed word without mail', 'active', [], 'running'],
  ['a listed word without rows', 'active', null, 'running'],
  ['an unknown word with mail today', 'hibernating', on(0), 'running'],
  ['an unknown word with mail yesterday', 'hibernating', on(1), 'running'],
  ['an unknown word with mail two days ago', 'hibernating', on(2), 'unknown'],
  ['an unknown word with mail a day ahead of UTC', 'hibernating', on(-1), 'running'],
  ['an unknown word with mail two days ahead', 'hibernating', on(-2), 'unknown'],
  ['no word with mail today', null, on(0), 'running'],
  ['an unknown word without mail that can be read', 'hibernating', silent, 'unknown'],
  ['an unknown word without rows', 'hibernating', null, 'unknown'],
  ['an unknown word with bounces alone', 'hibernating', [row(today, 0, 3)], 'unknown'],
])('%s: %s', (_, word, rows, state) => {
  expect(runStateOf(word, words, rows, now)).toBe(state);
});

test('the word that proved a pause is the same word in other letters and with spaces around', () => {
  const memory = { claim: null, pauseWord: 'Sleeping' };
  for (const word of ['Sleeping', 'sleeping', ' SLEEPING '])
    expect(runStateOf(word, words, on(0), now, memory)).toBe('paused');
  expect(runStateOf('dozing', words, on(0), now, memory)).toBe('running');
  expect(runStateOf(null, words, on(0), now, { ...memory, pauseWord: null })).toBe('running');
});

const bursting: Days = [...times(6, 80), [50, 4]];

test('the alert about a burst says since when, and what the limit allows; it leaves a breach to the other rules', () => {
  const conditionOf = (verdict: Verdict) => bounceBurst(judged(verdict), sampleContext());
  const fires = conditionOf(verdictOn('aggressive', bursting));
  expect(fires).toMatchObject({ active: true, severity: 'warning', observations: 1 });
  expect(fires.facts.sentences[0]).toBe('4 bounces in 50 emails since 20 March: 8%, over the limit of 2%.');
  expect(fires.facts.numbers).toMatchObject({ burst_bounced: 4, burst_sent: 50, burst_from: today });
  expect(conditionOf(verdictOn('aggressive', bursting, {}, { burst: 'act' })).active).toBe('unknown');
  expect(conditionOf(verdictOn('aggressive', times(7, 80))).active).toBe(false);
  expect(conditionOf(verdictOn('aggressive', bursting, { run: 'paused' })).active).toBe(false);
  expect(conditionOf(verdictOn('aggressive', bursting, { rows: null })).active).toBe('unknown');
});

const week = daysUpTo(today, ...times(7, 40));
const warningsOf = (rows: readonly StatsRow[]) => judge(defaultPolicy, situation({ rows })).warnings;
/** 1 bounce in 40 emails. */
const withRate = (date: string, percent: number): StatsRow => ({ ...row(date, 40, 1), bounceRatePercent: percent });
const others = week.slice(0, -1);
const contradiction = `${today}: bounce_rate says 2.52%, the counts say 2.50%; Warmwarden uses the counts`;

test('its age is that of the statistics, and never negative', () => {
  const aged = (ageMs: number) => judge(defaultPolicy, situation({ statsAt: now - ageMs })).dataAgeMs;
  expect([aged(17 * minuteMs), aged(0), aged(-minuteMs)]).toEqual([17 * minuteMs, 0, 0]);
});

test('a rate that the counts contradict is named; one that is rounded, absent, or of no emails is not', () => {
  expect(warningsOf(week)).toEqual([]);
  expect(warningsOf([...others, withRate(today, 2.5)])).toEqual([]);
  expect(warningsOf([...others, withRate(today, 2.51)])).toEqual([]);
  expect(warningsOf([...others, withRate(today, 2.52)])).toEqual([contradiction]);
  expect(warningsOf([...others, { ...row(today, 0, 0), bounceRatePercent: 3 }])).toEqual([]);
});

test('so it is where days are out of order, doubled or in the future, which is named, too', () => {
  expect(warningsOf([withRate(today, 2.52), ...others])).toEqual([contradiction]);
  expect(warningsOf([...week, row(today, 40, 0)])).toEqual([]);
  const doubled = `${today}: two rows differ; Warmwarden uses the one with more emails`;
  expect(warningsOf([...week, row(today, 30, 0)])).toEqual([doubled]);
  const ahead = addDays(today, 2);
  expect(warningsOf([...week, row(addDays(today, 1), 5, 0), row(ahead, 5, 0)])).toEqual([
    `${ahead}: Warmwarden ignores a day in the future`,
  ]);
});
