// The breaker is asked before a verdict becomes an action: who gets in its book, and who leaves it.
import { describe, expect, test } from 'vitest';
import { askBreaker } from '../../src/account/record/after-answer.ts';
import { type BreakerState, closedBreaker } from '../../src/core/guard/breaker.ts';
import { judge } from '../../src/core/guard/judge.ts';
import { defaultPolicy, newcomerAnswers } from '../../src/core/policy.ts';
import type { Verdict } from '../../src/core/verdict.ts';
import { listedMailbox, now, situation } from '../guard/samples.ts';
import { memory } from '../store/records.ts';

const mailbox = listedMailbox(now);
const held = { key: 'acme/m1', account: 'acme', email: mailbox.email, domain: 'acme.example', weight: 2 };
const open: BreakerState = {
  ...closedBreaker,
  openSince: now - 1_000,
  entries: [{ ...held, at: now - 1_000, held: true, firstSight: false }],
};

function ask(verdict: Partial<Verdict>, breaker: BreakerState, mayAct = true, of = mailbox) {
  const judged = { ...judge(defaultPolicy, situation()), ...verdict };
  return askBreaker(of, judged, { breaker, policy: defaultPolicy, mayAct, running: () => 100, now });
}

test.each([
  [0, true],
  [newcomerAnswers, true],
  [newcomerAnswers + 1, false],
])('a mailbox of which %i answers were judged is new to the breaker: %s', (answersJudged, firstSight) => {
  const known = { ...mailbox, memory: { ...memory, answersJudged } };
  const { breaker } = ask({ action: 'recovery', reason: 'bounce_rate_over_limit' }, closedBreaker, true, known);
  expect(breaker.entries).toMatchObject([{ firstSight }]);
});

describe('a mailbox that the breaker holds', () => {
  test('counts as an emergency once, for as long as it is one', () => {
    const emergency = { action: 'pause', wanted: 'pause', reason: 'emergency' } as const;
    const breach = { ...emergency, reason: 'bounce_rate_over_limit' } as const;
    const first = ask(emergency, open).breaker;
    expect([first.emergencies, first.entries.map((entry) => entry.emergency)]).toEqual([1, [true]]);
    expect(ask(emergency, first).breaker.emergencies).toBe(1);
    const less = ask(breach, first).breaker;
    expect([less.emergencies, less.entries.map((entry) => entry.emergency)]).toEqual([1, [undefined]]);
    expect(ask(emergency, less).breaker.emergencies).toBe(2);
    expect(ask({ action: 'none', reason: 'ok' }, less).breaker).not.toHaveProperty('emergencies');
  });

  test('stays held while bad data says nothing about its bounces', () => {
    expect(ask({ action: 'hold', reason: 'bad_payload' }, open).breaker).toBe(open);
  });

  test('leaves when its bounces are within the limit, and the breaker closes behind the last one', () => {
    expect(ask({ action: 'none', reason: 'ok' }, open).breaker.openSince).toBeNull();
  });

  test('leaves when nothing may be written to it any more', () => {
    const breach = { action: 'recovery', wanted: 'recovery', reason: 'bounce_rate_over_limit' } as const;
    const { verdict, breaker } = ask(breach, open, false);
    expect([verdict.action, breaker.openSince]).toEqual(['recovery', null]);
  });
});
