// contested and recovery_without_effect: when they speak, and when they end.
import { describe, expect, test } from 'vitest';
import type { MailboxState } from '../../../src/core/mailbox.ts';
import { dayMs, hourMs } from '../../../src/core/time.ts';
import type { Claim } from '../../../src/core/verdict.ts';
import { conditionOf, judged, sampleMailbox, sampleVerdict, start } from '../samples.ts';

const claim: Claim = { kind: 'recovery', actionId: 'a1', since: start, previousMode: 'balanced', under: null };

function recovering(dailyLimit: number | null, change: Partial<Claim> | null = {}): MailboxState {
  const theirs = change && { ...claim, ...change };
  const known = { mode: 'recovery', status: 'active', dailyLimit };
  const answer = { ...known, config: { targetDailyLimit: null }, recentBounces: [] };
  return sampleMailbox({
    warmup: { at: start, answer: answer as never },
    memory: { interventions: [], reversals: [], claim: theirs } as never,
    verdict: { at: start, answer: sampleVerdict({ mode: 'recovery' }) },
  });
}

const conditionAt = (what: string, mailbox: MailboxState, afterMs = 0) =>
  conditionOf(what, 'stats', mailbox, { now: start + afterMs });
const active = (...given: Parameters<typeof conditionAt>) => conditionAt(...given).active;

describe('contested', () => {
  const held = judged({ action: 'hold', reason: 'contested', wanted: 'pause' });

  test('fires when an action is held because others take ours back, and says what to find out', () => {
    expect(conditionAt('contested', held)).toMatchObject({ active: true, forMs: 0, severity: 'warning' });
    expect(conditionAt('contested', held).facts.sentences.join(' ')).toContain('which person or tool changes it');
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
  const { sentences } = conditionAt('daily limit', recovering(40), dayMs).facts;
  expect(sentences.join(' ')).toMatch(/still 40 emails, over the 15.*`warmwarden limit acme\/\S+ 15`/);
  expect(conditionAt('overdue', recovering(10), 45 * dayMs).facts.sentences[0]).toContain('on 20 March');
});
