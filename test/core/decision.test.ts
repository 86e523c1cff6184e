// Which verdicts belong to one span of decisions.
import { expect, test } from 'vitest';
import { isSameSpan } from '../../src/core/records.ts';
import type { Verdict } from '../../src/core/verdict.ts';
import { verdictOf } from '../store/records.ts';

const calm = verdictOf({ sent: 160, bounced: 1, limitPpm: 10_000 });

test.each<[string, Partial<Verdict>]>([
  ['emails that were sent', { sent: 250 }],
  ['the age of the counts', { dataAgeMs: 99_000 }],
  ['a window that begins elsewhere', { windowFrom: '2026-03-02', windowDays: 9 }],
  ['an oddity of the rows', { warnings: [] }],
  ['bounces left', { bouncesUntilBreach: 2 }],
])('%s: the same span', (_what, changes) => {
  expect(isSameSpan(calm, { ...calm, ...changes })).toBe(true);
});

test.each<[string, Partial<Verdict>]>([
  ['the action', { action: 'hold' }],
  ['the reason', { reason: 'insufficient_evidence' }],
  ['what would be done', { wanted: 'pause' }],
  ['the mode', { mode: 'slow' }],
  ['the run state', { run: 'paused' }],
  ['a bounce', { bounced: 2 }],
  ['the limit', { limitPpm: 20_000 }],
  ['the day', { windowTo: '2026-03-11' }],
])('%s: another span', (_what, changes) => {
  expect(isSameSpan(calm, { ...calm, ...changes })).toBe(false);
});

test('fewer emails bring the rate over the limit: another span', () => {
  expect(isSameSpan({ ...calm, sent: 100 }, { ...calm, sent: 99 })).toBe(false);
  expect(isSameSpan({ ...calm, sent: 101 }, { ...calm, sent: 100 })).toBe(true);
});
