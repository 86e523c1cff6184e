// What each answer says: which rule speaks, when it is sure, and what a person reads at 3 a.m.
import { expect, test } from 'vitest';
import type { MailboxContext } from '../../src/alerts/condition.ts';
import { actedEvent, actionFailedCondition } from '../../src/alerts/rules/action-rules.ts';
import { defaultRuleSettings } from '../../src/core/alert-rules.ts';
import { defaultPolicy } from '../../src/core/policy.ts';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import type { Verdict } from '../../src/core/verdict.ts';
import {
  alertBook,
  breach,
  conditionOf,
  judged,
  sampleAction,
  sampleContext,
  sampleVerdict,
  start,
  withDns,
} from './samples.ts';

const active = (...given: Parameters<typeof conditionOf>) => conditionOf(...given).active;

test('a switch says so where nothing changes the mode back', () => {
  const policy = { ...defaultPolicy, restore: { ...defaultPolicy.restore, enabled: false } };
  const said = actedEvent(sampleAction(), sampleContext({ policy }))?.alert.facts.sentences;
  expect(said).toContain('Warmwarden does not change the mode back by itself, because guard.restore.enabled is false.');
});

test.each([
  [{ state: 'refused' }, true],
  [{ state: 'unconfirmed' }, true],
  [{ state: 'unconfirmed', nextTryAt: start + minuteMs }, 'unknown'],
  [{ state: 'open' }, 'unknown'],
  [{ state: 'confirmed' }, false],
] as const)('guard_action_failed: %o is %s', (change, active) => {
  const condition = actionFailedCondition(sampleAction(change), sampleVerdict(breach), sampleContext());
  expect(condition).toMatchObject({ active, severity: 'critical' });
});

test('guard_action_failed: what was dropped, or failed for a person, ends it only if what was read wants no action', () => {
  const ended = (change: Parameters<typeof sampleAction>[0], verdict: Partial<Verdict>, context = sampleContext()) => {
    const { active, facts } = actionFailedCondition(sampleAction(change), sampleVerdict(verdict), context);
    return active === false ? facts.sentences : active;
  };
  const by = { name: 'root', reason: 'to see it' };
  const calm = { action: 'none', wanted: 'none', reason: 'already_paused' } as const;
  const paused = ['The warm-up is already paused, so there is nothing to decide.'];
  for (const change of [{ state: 'dropped' }, { by, state: 'dropped' }, { by, state: 'refused' }] as const) {
    expect(ended(change, breach)).toBe('unknown');
    expect(ended(change, { action: 'hold', reason: 'stale_data' })).toBe('unknown');
    expect(ended(change, { action: 'none', reason: 'no_data' })).toBe('unknown');
    expect(ended(change, calm)).toEqual(paused);
  }
  expect(ended({ by, state: 'confirmed', kind: 'limit' }, breach)).toBe('unknown');
  expect(ended({ by, state: 'confirmed' }, breach)).not.toBe('unknown');
  const off = sampleContext({ policy: { ...defaultPolicy, enforce: false } });
  expect(ended({ state: 'dropped' }, breach, off)).toEqual(['NO ACTION TAKEN: enforcement is off (guard.enforce).']);
});

const off = { mayWrite: false, policy: { ...defaultPolicy, enforce: false } };
const held = (reason: Verdict['reason']) => ({ ...breach, action: 'hold', reason }) as const;

test.each<[string, Partial<Verdict>, Partial<MailboxContext>, boolean | 'unknown']>([
  ['a breach that is acted on', breach, {}, false],
  ['a breach that the key may not act on', breach, { mayWrite: false }, true],
  ['a breach on which nothing is done', { ...breach, action: 'none' }, {}, true],
  ['a breach at first sight', held('first_sight'), off, 'unknown'],
  ['a breach in an unknown status', held('unknown_status'), {}, true],
  ['old data', { action: 'hold', reason: 'stale_data' }, off, 'unknown'],
  ['no breach', {}, off, false],
])('bounce_over_limit fires only while nobody acts on the breach: %s', (_, verdict, context, expected) => {
  expect(active('bounce_over_limit', 'stats', judged(verdict), context)).toBe(expected);
});

test('bounce_over_limit: while it fires, its words name the reason of now and the counts of now, and nothing is told again', () => {
  const scope = { kind: 'everything' } as const;
  const writesOff = { scope, since: start, until: null, by: 'ann', reason: 'maintenance' };
  const unjudged = { action: 'hold', wanted: 'hold' } as const;
  const steps: [Partial<Verdict>, Partial<MailboxContext>, string, string][] = [
    [
      breach,
      { writesOff, mayWrite: false },
      'Writes are off for all accounts (ann: maintenance)',
      '`warmwarden writes on`',
    ],
    [held('circuit_breaker'), {}, 'circuit breaker is holding', '`warmwarden breaker apply`'],
    [held('contested'), {}, 'reversed', '`warmwarden contest end acme/bob@acme.example`'],
    [breach, { mayWrite: false }, 'the API key is read-only', 'allow Warmwarden to act'],
    [held('first_sight'), {}, 'for the first time', 'Set the mode to recovery'],
    [breach, off, 'guard.enforce', 'allow Warmwarden'],
    [{ ...unjudged, reason: 'stale_data' }, {}, 'statistics are too old', 'Check the mailbox'],
    [{ ...breach, action: 'none' }, {}, 'on_breach', 'allow Warmwarden to act'],
    [{ ...unjudged, reason: 'unknown_mode', mode: 'new' }, {}, 'The warm-up mode "new"', 'Check the mailbox'],
    [{ ...unjudged, reason: 'bad_payload' }, {}, 'cannot read the statistics', 'Check the mailbox'],
  ];
  const book = alertBook();
  steps.forEach(([verdict, change, why, todo], index) => {
    const now = start + index * minuteMs;
    const mailbox = { ...judged(verdict), verdict: { at: now, answer: sampleVerdict(verdict) } };
    book.see([conditionOf('bounce_over_limit', 'stats', mailbox, { ...change, now })], now);
    const facts = book.only()?.facts;
    expect(facts?.sentences.filter((text) => text.startsWith('NO ACTION TAKEN: '))).toEqual([
      expect.stringContaining(why),
    ]);
    expect(facts?.sentences.at(-1)).toContain(todo);
    const readAt = `10:${String(index + 1).padStart(2, '0')}`;
    expect(facts?.sentences).toContain(`Based on counts read on 20 March ${readAt} UTC.`);
    expect(facts?.numbers['reason']).toBe(sampleVerdict(verdict).reason);
  });
  expect(book.kinds()).toEqual(['firing']);
});

test.each([
  [4, 500, true],
  [4, 501, 'unknown'],
  [7, 1_000, 'unknown'],
  [7, 1_001, false],
  [1, 110, 'unknown'],
  [0, 0, false],
])(
  'bounce_near_limit: two bounces from 80%% of the limit on, until 70%%: %i in %i is %s',
  (bounced, sent, expected) => {
    expect(active('bounce_near_limit', 'stats', judged({ bounced, sent }))).toBe(expected);
  },
);

const blinding = ['unknown_mode', 'bad_payload', 'invalid_row', 'implausible_counts', 'unknown_status', 'no_evidence'];

test.each<[boolean | 'unknown', readonly string[]]>([
  [true, [...blinding, 'word_against_counts']],
  ['unknown', ['stale_data', 'no_data', 'emergency']],
  [false, ['ok', 'already_paused', 'circuit_breaker']],
])('guard_blind, after an hour, is %s on its reasons', (expected, reasons) => {
  for (const reason of reasons as readonly Verdict['reason'][]) {
    const mailbox = judged({ action: 'hold', reason });
    expect([reason, active('guard_blind', 'warmup', mailbox)]).toEqual([reason, expected]);
  }
  expect(conditionOf('guard_blind', 'stats', judged({})).forMs).toBe(hourMs);
});

test('guard_blind: late bounces right after the evidence restarted are no blindness', () => {
  const late = { action: 'hold', reason: 'implausible_counts', sent: 0, bounced: 1 } as const;
  expect(active('guard_blind', 'stats', judged({ ...late, windowDays: 1 }))).toBe('unknown');
  expect(active('guard_blind', 'stats', judged({ ...late, windowDays: 7 }))).toBe(true);
});

test('dns_failing is per domain and twice; inconclusive neither fires nor resolves', () => {
  const condition = conditionOf('dns_failing', 'dns', withDns({ spf: false, dkim: null }));
  expect(condition).toMatchObject({ active: true, observations: 2, severity: 'critical' });
  expect(condition.subject).toMatchObject({ account: 'acme', mailboxId: null, object: 'acme.example' });
  expect(active('dns_failing', 'dns', withDns({ spf: true, dkim: null }))).toBe('unknown');
  expect(active('dns_failing', 'dns', withDns({ spf: true, dkim: true }))).toBe(false);
});

test("times are those of the configured zone, which is named; dates of the evidence stay the API's", () => {
  const rules = { ...defaultRuleSettings, timeZone: 'Europe/Berlin' };
  const context = sampleContext({ rules });
  const late = sampleAction({ state: 'unconfirmed', nextTryAt: start + 14 * hourMs });
  const sentences = actionFailedCondition(late, undefined, context).facts.sentences.join(' ');
  expect(sentences).toContain('at 11:02 Europe/Berlin, but could not read it back');
  expect(sentences).toContain('Warmwarden tries again on 21 March 01:02 Europe/Berlin.');
  expect(sentences).toContain('from 14 to 20 March');
});
