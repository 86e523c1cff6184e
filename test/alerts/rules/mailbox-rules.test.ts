// Rules about one mailbox: contested, recovery_without_effect, a status that nobody knows, and bounces that are too few to act on.
import { expect, test } from 'vitest';
import { defaultRuleSettings } from '../../../src/core/alert-rules.ts';
import type { MailboxDetail } from '../../../src/core/answers.ts';
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

test('contested ends when nothing is held any more, and says nothing before a verdict', () => {
  expect(active('contested', judged({}))).toBe(false);
  expect(active('contested', sampleMailbox())).toBe('unknown');
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

type Connection = MailboxDetail['connection'];

function withStatus(listed: string | null, detailed = listed, connection: Connection = 'connected'): MailboxState {
  const mailbox = sampleMailbox();
  const answer = { ...mailbox.entry.answer, status: listed };
  const detail = { status: detailed, healthScore: null, dailyLimit: null };
  const connected = { ...detail, connection, connectionError: null };
  return { ...mailbox, entry: { at: start, answer }, detail: { at: start, answer: connected } };
}

test('mailbox_unwell: the list alone does not end what the detail says, and unclear says nothing', () => {
  for (const [answered, connection, status, expected] of [
    ['mailbox', 'error', 'active', true],
    ['mailboxes', 'error', 'active', 'unknown'],
    ['mailbox', 'unclear', 'active', 'unknown'],
    ['mailbox', 'connected', 'active', false],
    ['mailboxes', 'connected', 'active', false],
    ['mailboxes', 'connected', 'disconnected', true],
    ['mailboxes', 'connected', 'connection_failed', true],
    ['mailboxes', 'connected', 'connection_ok', false],
    ['mailboxes', 'connected', null, 'unknown'],
  ] as const)
    expect(conditionOf('mailbox_unwell', answered, withStatus(status, status, connection)).active).toBe(expected);
});

const unknownStatus = (answered: 'mailbox' | 'mailboxes', mailbox: MailboxState, rules = defaultRuleSettings) =>
  conditionOf('status', answered, mailbox, { rules });

test.each([
  ['suspended', true],
  ['Locked', true],
  ['active', false],
  [' Paused ', false],
  ['connected', false],
  ['disconnected', false],
  [null, 'unknown'],
] as const)('mailbox_unwell: %s', (status, active) => {
  for (const answered of ['mailbox', 'mailboxes'] as const)
    expect(unknownStatus(answered, withStatus(status))).toMatchObject({ active, observations: 2 });
});

test('mailbox_unwell ends when list and detail both have a known status, and for words that are configured', () => {
  expect(unknownStatus('mailboxes', withStatus('active', 'locked')).active).toBe('unknown');
  expect(unknownStatus('mailbox', withStatus('locked', 'active')).active).toBe('unknown');
  const rules = { ...defaultRuleSettings, mailboxUnwell: { known: ['Locked'] } };
  expect(unknownStatus('mailbox', withStatus('locked'), rules).active).toBe(false);
});

test.each([
  ['recovery', 'warning'],
  ['slow', 'info'],
] as const)('too few bounces over the limit in mode %s: %s', (mode, severity) => {
  const few = judged({ reason: 'insufficient_evidence', mode, bounced: 1 });
  expect(conditionOf('bounce_over_limit', 'stats', few).severity).toBe(severity);
});
