// A mailbox status that nobody knows, and the kinds of bounces that grade a message.

import { expect, test } from 'vitest';
import { tune } from '../../../src/alerts/condition.ts';
import { actedEvent } from '../../../src/alerts/rules/action-rules.ts';
import type { Severity } from '../../../src/core/alert.ts';
import type { AlertRule } from '../../../src/core/alert-rules.ts';
import type { RecentBounce, WarmupAnswer } from '../../../src/core/answers.ts';
import type { MailboxState } from '../../../src/core/mailbox.ts';
import { defaultRuleSettings } from '../../../src/core/rule-settings.ts';
import { breach, conditionOf, judged, sampleAction, sampleContext, sampleMailbox, start } from '../samples.ts';

function withStatus(listed: string | null, detailed: string | null = listed): MailboxState {
  const mailbox = sampleMailbox();
  const answer = { ...mailbox.entry.answer, status: listed };
  const detail = { status: detailed, healthScore: null, dailyLimit: null };
  const connected = { ...detail, connection: 'connected', connectionError: null } as const;
  return { ...mailbox, entry: { at: start, answer }, detail: { at: start, answer: connected } };
}

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

const hard: RecentBounce = { type: 'hard', category: 'invalid_recipient' };
const block: RecentBounce = { type: 'Blocked', category: null };
const soft: RecentBounce = { type: 'soft', category: 'mailbox_full' };

function bouncing(mailbox: MailboxState, recentBounces: readonly RecentBounce[]): MailboxState {
  const answer = { status: 'active', mode: 'recovery', recentBounces } as Partial<WarmupAnswer> as WarmupAnswer;
  return { ...mailbox, warmup: { at: start, answer } };
}

function severityOf(rule: AlertRule, mailbox: MailboxState, rules = defaultRuleSettings): Severity | undefined {
  return tune([conditionOf(rule, 'stats', mailbox, { rules })], rules)[0]?.severity;
}

test.each<[string, readonly RecentBounce[], Severity]>([
  ['all hard or blocked', [hard, block], 'critical'],
  ['one soft among them', [hard, hard, soft], 'warning'],
  ['a single one', [hard], 'warning'],
  ['of a kind that nobody knows', [{ type: null, category: 'odd' }, hard], 'warning'],
  ['none shown', [], 'warning'],
])('a warning about bounces: %s is %s', (_name, bounces, severity) => {
  const mailbox = bouncing(judged({}), bounces);
  expect(actedEvent(sampleAction(), mailbox, sampleContext())?.alert.severity).toBe(severity);
  const burst = { sent: 20, bounced: 4, from: '2026-03-19', days: 2 };
  expect(severityOf('bounce_burst', bouncing(judged({ burst }), bounces))).toBe(severity);
  const few = judged({ reason: 'insufficient_evidence', mode: 'recovery', bounced: 1 });
  expect(severityOf('bounce_over_limit', bouncing(few, bounces))).toBe(severity);
});

test('the kinds of bounces leave alone what is no warning, and say what they are', () => {
  const few = bouncing(judged({ reason: 'insufficient_evidence', mode: 'slow', bounced: 1 }), [hard, hard]);
  expect(severityOf('bounce_over_limit', few)).toBe('info');
  const restored = sampleAction({ kind: 'restore', verdict: breach });
  expect(actedEvent(restored, few, sampleContext())?.alert.severity).toBe('info');
  const burst = { sent: 20, bounced: 4, from: '2026-03-19', days: 2 };
  const { sentences } = conditionOf('bounce_burst', 'stats', bouncing(judged({ burst }), [soft, soft])).facts;
  expect(sentences).toContain('The last 2 bounces were soft (mailbox_full).');
});
