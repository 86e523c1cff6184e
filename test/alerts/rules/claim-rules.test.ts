// contested and recovery_without_effect: when they speak, and when they end.
import { describe, expect, test } from 'vitest';
import { conditionsAfter } from '../../../src/alerts/rules.ts';
import type { WarmupAnswer } from '../../../src/core/answers.ts';
import type { GuardMemory } from '../../../src/core/guard/memory.ts';
import type { MailboxState } from '../../../src/core/mailbox.ts';
import { dayMs, hourMs } from '../../../src/core/time.ts';
import type { Claim } from '../../../src/core/verdict.ts';
import { judged, sampleContext, sampleMailbox, sampleVerdict, start } from '../samples.ts';

const config = { targetDailyLimit: null, replyRate: null, threadRate: null, weekdaysOnly: null };

function warmup(dailyLimit: number | null): MailboxState['warmup'] {
  const unsaid = { warmupDay: null, healthScore: null };
  const answer: WarmupAnswer = {
    mode: 'recovery',
    status: 'active',
    dailyLimit,
    ...unsaid,
    config: { ...config, sendWindowStart: null, sendWindowEnd: null },
    recentBounces: [],
  };
  return { at: start, answer };
}

function memory(claim: Claim | null): GuardMemory {
  return {
    firstSeenAt: start,
    answersJudged: 9,
    mode: 'recovery',
    run: 'running',
    evidence: null,
    emergencyEvidence: null,
    interventions: [],
    claim,
    pauseWord: null,
    reversals: [],
  };
}

const claim: Claim = { kind: 'recovery', actionId: 'a1', since: start, previousMode: 'balanced', under: null };

function recovering(dailyLimit: number | null, change: Partial<Claim> | null = {}): MailboxState {
  const theirs = change && { ...claim, ...change };
  const verdict = { at: start, answer: sampleVerdict({ mode: 'recovery' }) };
  return sampleMailbox({ warmup: warmup(dailyLimit), memory: memory(theirs), verdict });
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

describe('recovery_without_effect, daily limit', () => {
  const rule = 'daily limit';

  test('fires a day after our switch when more than 15 emails a day go on', () => {
    expect(active(rule, recovering(40), dayMs - 1)).toBe(false);
    expect(active(rule, recovering(40), dayMs)).toBe(true);
    expect(active(rule, recovering(16), dayMs)).toBe(true);
    expect(active(rule, recovering(15), dayMs)).toBe(false);
    const { sentences } = conditionOf(rule, recovering(40), dayMs).facts;
    expect(sentences.join(' ')).toContain('still 40 emails, over the 15');
    expect(sentences.join(' ')).toMatch(/`warmwarden limit acme\/\S+ 15`.*`warmwarden pause acme\/\S+`/);
  });

  test('says nothing about a daily limit that is not told, and is no matter of pauses or of others', () => {
    expect(active(rule, recovering(null), dayMs)).toBe('unknown');
    expect(active(rule, recovering(40, { kind: 'pause' }), dayMs)).toBe(false);
    expect(active(rule, recovering(40, null), dayMs)).toBe(false);
  });
});

describe('recovery_without_effect, overdue', () => {
  const rule = 'overdue';

  test('fires when a recovery of ours lasts 45 days, with the day of the switch', () => {
    expect(active(rule, recovering(10), 45 * dayMs - hourMs)).toBe(false);
    expect(active(rule, recovering(10), 45 * dayMs)).toBe(true);
    const { facts } = conditionOf(rule, recovering(10), 45 * dayMs);
    expect(facts.sentences[0]).toContain('on 20 March');
    expect(facts.numbers).toMatchObject({ claim: 'recovery', since: new Date(start).toISOString() });
  });

  test('ends with the claim, and never speaks of a pause', () => {
    expect(active(rule, recovering(10, null), 60 * dayMs)).toBe(false);
    expect(active(rule, recovering(10, { kind: 'pause' }), 60 * dayMs)).toBe(false);
  });
});
