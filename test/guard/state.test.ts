// The guard's one word for a mailbox: a rate over the limit is never called near it, nor fine.
import { expect, test } from 'vitest';
import type { GuardActionKind } from '../../src/core/action.ts';
import { judge } from '../../src/core/guard/judge.ts';
import { guardStateOf } from '../../src/core/guard/run-state.ts';
import { defaultPolicy, type Policy } from '../../src/core/policy.ts';
import type { Claim, Verdict } from '../../src/core/verdict.ts';
import { mailbox } from '../web/example-fleet.ts';
import { daysUpTo, now, situation, times, today } from './samples.ts';

// Its verdicts are of another time than the example's statistics.
const connected = { ...mailbox('m1', 'a@b.example'), stats: null };

function stateOf(mode: string, days: readonly (readonly [number, number])[], change: Partial<Policy> = {}) {
  const policy = { ...defaultPolicy, ...change };
  const answer = judge(policy, situation({ mode, rows: daysUpTo(today, ...days) }));
  return guardStateOf({ ...connected, verdict: { at: now, answer }, memory: null }, policy.nearLimitPpm);
}

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
  const answer = judge(defaultPolicy, situation({ mode: 'balanced', rows: daysUpTo(today, ...breach) }));
  const of = (action: GuardActionKind, claim: Claim | null) => {
    const memory = { claim } as never;
    return guardStateOf(
      { ...connected, verdict: { at: now, answer: { ...answer, action } as Verdict }, memory },
      defaultPolicy.nearLimitPpm,
    );
  };
  const recovery: Claim = { kind: 'recovery', actionId: 'a', since: now + 2, previousMode: 'balanced', under: null };
  const pause: Claim = { ...recovery, kind: 'pause', under: { ...recovery, since: now - 2 } };
  expect([of('recovery', null), of('recovery', recovery)]).toEqual(['held', 'recovering']);
  expect(of('recovery', { ...recovery, since: now - 2 })).toBe('held');
  expect([of('pause', recovery), of('pause', pause)]).toEqual(['held', 'paused_by_guard']);
  expect([of('restore', recovery), of('restore', null)]).toEqual(['recovering', 'ok']);
});

test('in a recovery of ours, over the limit says more than recovering', () => {
  const claim: Claim = { kind: 'recovery', actionId: 'a', since: now, previousMode: 'slow', under: null };
  const memory = { claim } as never;
  const of = (bounced: number) => {
    const rows = daysUpTo(today, ...times(6, 15), [15, bounced]);
    const answer = judge(defaultPolicy, situation({ mode: 'recovery', rows, claim }));
    return guardStateOf({ ...connected, verdict: { at: now, answer }, memory }, defaultPolicy.nearLimitPpm);
  };
  expect(of(0)).toBe('recovering');
  expect(of(1)).toBe('over_limit');
});

test('a mailbox that is disconnected is never ok: it sends nothing; worse words stay', () => {
  const { detail, entry } = connected;
  if (!detail) throw new Error('the example is incomplete');
  const lost = { ...detail, answer: { ...detail.answer, connection: 'error', connectionError: 'IMAP' } } as const;
  const listed = { ...entry, answer: { ...entry.answer, status: 'disconnected' } };
  const judged = (rows: Parameters<typeof daysUpTo>[1][]) => {
    const answer = judge(defaultPolicy, situation({ mode: 'slow', rows: daysUpTo(today, ...rows) }));
    return { verdict: { at: now, answer }, memory: null };
  };
  const calm = judged([...times(7, 40)]);
  for (const change of [{ detail: lost }, { entry: listed }, { entry: listed, detail: null }])
    expect(guardStateOf({ ...connected, ...change, ...calm }, defaultPolicy.nearLimitPpm)).toBe('not_running');
  expect(guardStateOf({ ...connected, detail: null, ...calm }, defaultPolicy.nearLimitPpm)).toBe('ok');
  const over = judged([...times(6, 33), [1, 1]]);
  expect(guardStateOf({ ...connected, detail: lost, ...over }, defaultPolicy.nearLimitPpm)).toBe('over_limit');
});

test('a mailbox without an email on any day is not judged once its first days are over; before that it is ok', () => {
  for (const rows of [[], daysUpTo(today, ...times(7, 0))]) {
    const of = (expectsEmails: boolean) => {
      const answer = judge(defaultPolicy, situation({ mode: 'slow', rows, expectsEmails }));
      const state = guardStateOf(
        { ...connected, verdict: { at: now, answer }, memory: null },
        defaultPolicy.nearLimitPpm,
      );
      return [answer.action, answer.reason, state];
    };
    expect(of(false)).toEqual(['none', rows.length === 0 ? 'no_data' : 'ok', 'ok']);
    expect(of(true)).toEqual(['hold', 'missing_counts', 'not_judged']);
  }
});

test('a mailbox of which newer statistics were read than it was judged by is not judged', () => {
  const answer = judge(defaultPolicy, situation({ mode: 'balanced', rows: daysUpTo(today, ...times(7, 40)) }));
  const { stats } = mailbox('m1', 'a@b.example');
  const readAt = (at: number) => ({ ...connected, stats: stats && { ...stats, at }, verdict: { at: now, answer } });
  const states = [0, 4, 6].map((minutes) => guardStateOf(readAt(now + minutes * 60_000), defaultPolicy.nearLimitPpm));
  expect(states).toEqual(['ok', 'ok', 'not_judged']);
});

test('what blinds the guard is not judged, whatever the action says', () => {
  const verdict = judge(defaultPolicy, situation({ mode: 'balanced', rows: daysUpTo(today, ...times(7, 40)) }));
  const of = (reason: Verdict['reason'], action: Verdict['action']) =>
    guardStateOf({ ...connected, verdict: { at: now, answer: { ...verdict, reason, action } }, memory: null }, 0);
  for (const reason of ['no_evidence', 'word_against_counts', 'implausible_counts'] as const) {
    expect([of(reason, 'none'), of(reason, 'hold')]).toEqual(['not_judged', 'not_judged']);
  }
});
