// contested and recovery_without_effect: when they speak, and when they end.
import { describe, expect, test } from 'vitest';
import { conditionsAfter } from '../../../src/alerts/rules.ts';
import type { MailboxState } from '../../../src/core/mailbox.ts';
import { dayMs, hourMs } from '../../../src/core/time.ts';
import type { Claim } from '../../../src/core/verdict.ts';
import { judged, sampleContext, sampleMailbox, sampleVerdict, start } from '../samples.ts';

const claim: Claim = { kind: 'recovery', actionId: 'a1', since: start, previousMode: 'balanced', under: null };

function recovering(dailyLimit: number | null, change: Partial<Claim> | null = {}): MailboxState {
  const theirs = change && { ...claim, ...change };
  const answer = {
    mode: 'recovery',
    status: 'active',
    dailyLimit,
    config: { targetDailyLimit: null },
    recentBounces: [],
  };
  return sampleMailbox({
    warmup: { at: start, answer: answer as never },
    memory: { interventions: [], reversals: [], claim: theirs } as never,
    verdict: { at: start, answer: sampleVerdict({ mode: 'recovery' }) },
  });
}

/** `what`: a rule, or one of its causes. */
function conditionOf(what: string, mailbox: MailboxState, afterMs = 0) {
  const found = conditionsAfter('stats', mailbox, sampleContext({ now: start + afterMs }));
  const condition = found.find(({ subject }) => subject.rule === what || subject.object === what);
  if (!condition) throw new Error(`${what} says nothing`);
  return condition;
}

const active = (...given: Parameters<typeof conditionOf>) => conditionOf(...given).active;

describe('contested', () => {
  const held = judged({ action: 'hold', reason: 'contested', wanted: 'pause' });

  test('fires when an action is held because others take ours back, and says what to find out', () => {
    expect(conditionOf('contested', held)).toMatchObject({ active: true, forMs: 0, severity: 'warning' });
    expect(conditionOf('contested', held).facts.sentences.join(' ')).toContain('which person or tool changes it');
  });

  test('ends when nothing is held any more, and says nothing before a verdict', () => {
    expect(active('contested', judged({}))).toBe(false);
    expect(active('contested', sampleMailbox())).toBe('unknown');
  });
});

test.each<[string, string, number | null, Partial<Claim> | null, number, boolean | 'unknown']>([
  ['daily limit', 'within a day of the switch', 40, {}, dayMs - 1, false],
  ['daily limit', 'of 40 a day after it', 40, {}, dayMs, true],
  ['daily limit', 'of 16', 16, {}, dayMs, true],
  ['daily limit', 'of 15', 15, {}, dayMs, false],
  ['daily limit', 'that is not told', null, {}, dayMs, 'unknown'],
  ['daily limit', 'of a pause', 40, { kind: 'pause' }, dayMs, false],
  ['daily limit', 'that is no change of ours', 40, null, dayMs, false],
  ['overdue', 'before 45 days', 10, {}, 45 * dayMs - hourMs, false],
  ['overdue', 'after 45 days', 10, {}, 45 * dayMs, true],
  ['overdue', 'without a claim', 10, null, 60 * dayMs, false],
  ['overdue', 'of a pause', 10, { kind: 'pause' }, 60 * dayMs, false],
])('recovery_without_effect, %s %s', (what, _, limit, change, afterMs, expected) => {
  expect(active(what, recovering(limit, change), afterMs)).toBe(expected);
});

test('recovery_without_effect says what goes on, since when, and what to do', () => {
  const { sentences } = conditionOf('daily limit', recovering(40), dayMs).facts;
  expect(sentences.join(' ')).toMatch(/still 40 emails, over the 15.*`warmwarden limit acme\/\S+ 15`/);
  expect(conditionOf('overdue', recovering(10), 45 * dayMs).facts.sentences[0]).toContain('on 20 March');
});
