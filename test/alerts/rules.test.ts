// What each answer says: which rule speaks, when it is sure, and what a person reads at 3 a.m.
import { expect, test } from 'vitest';
import { type MailboxContext, tune } from '../../src/alerts/condition.ts';
import { step } from '../../src/alerts/engine.ts';
import { accountConditions } from '../../src/alerts/rules/account-rules.ts';
import { actedEvent, actionFailedCondition } from '../../src/alerts/rules/action-rules.ts';
import { conditionsAfter } from '../../src/alerts/rules.ts';
import type { Alert } from '../../src/core/alert.ts';
import type { Route } from '../../src/core/answers.ts';
import type { AccountState, MailboxState } from '../../src/core/mailbox.ts';
import { defaultPolicy } from '../../src/core/policy.ts';
import { defaultRuleSettings, type RuleSettings } from '../../src/core/rule-settings.ts';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import type { Verdict } from '../../src/core/verdict.ts';
import { breach, judged, sampleAction, sampleContext, sampleMailbox, sampleVerdict, start } from './samples.ts';

function active(rule: string, answered: Route | 'time', mailbox: MailboxState, context = sampleContext()) {
  return conditionsAfter(answered, mailbox, context).find(({ subject }) => subject.rule === rule)?.active;
}

test('a confirmed switch tells the counts, what was done, and how to take it back', () => {
  const event = actedEvent(sampleAction(), sampleMailbox(), sampleContext({ now: start + 500 }));
  expect(event?.kind).toBe('event');
  const alert = event?.alert;
  expect(alert).toMatchObject({ rule: 'guard_acted', object: 'a1:confirmed', severity: 'warning' });
  expect(alert?.facts).toEqual({
    title: 'bob@acme.example: switched to recovery mode',
    sentences: [
      '4 bounces in 260 emails from 14 to 20 March: 1.54 %, over the balanced limit of 1 %.',
      'Warmwarden switched it to recovery mode at 10:02 UTC, confirmed after 0.4 s.',
      'Based on counts read on 20 March 10:01 UTC.',
      'You do not have to change the mode back. Warmwarden sets it to balanced by itself after at least 7 days and enough emails without a bounce.',
      'To undo this: `warmwarden mode acme/bob@acme.example balanced`, or set the mode in the mailbox app.',
    ],
    numbers: {
      sent: 260,
      bounced: 4,
      rate_percent: 1.5385,
      limit_percent: 1,
      window_from: '2026-03-14',
      window_to: '2026-03-20',
      mode: 'balanced',
      reason: 'bounce_rate_over_limit',
      data_age_seconds: 0,
      action: 'recovery',
      outcome: 'confirmed',
      attempts: 1,
      took_seconds: 0.4,
      mode_before: 'balanced',
    },
  });
});

test('a switch says so where nothing changes the mode back', () => {
  const policy = { ...defaultPolicy, restore: { ...defaultPolicy.restore, enabled: false } };
  const said = (action = sampleAction()) =>
    actedEvent(action, sampleMailbox(), sampleContext({ policy }))?.alert.facts.sentences.join(' ');
  expect(said()).toContain(
    'Warmwarden does not change the mode back by itself, because guard.restore.enabled is false.',
  );
  expect(said(sampleAction({ kind: 'pause' }))).not.toContain('change the mode back');
});

test('a pause is critical and says that campaigns go on; an emergency shows its own counts', () => {
  const emergency = { sent: 12, bounced: 5, from: '2026-03-19' };
  const verdict = { ...breach, action: 'pause', wanted: 'pause', reason: 'emergency', emergency } as const;
  const alert = actedEvent(sampleAction({ kind: 'pause', verdict }), sampleMailbox(), sampleContext())?.alert;
  expect(alert?.severity).toBe('critical');
  expect(alert?.facts.sentences[0]).toBe('5 bounces in 12 emails since 19 March: 41.67 %.');
  expect(alert?.facts.sentences).toContain(
    'Warmwarden does not touch campaign sending: stop that yourself if it should stop too.',
  );
  expect(alert?.facts.numbers).toMatchObject({ sent: 12, bounced: 5, window_from: '2026-03-19' });
});

test('whatever severity and delay the configuration gives a rule, its condition has the words', () => {
  const of = Object.fromEntries(
    Object.entries(defaultRuleSettings.of).map(([rule, one]) => [
      rule,
      { ...one, severity: 'critical', forMs: hourMs },
    ]),
  ) as RuleSettings['of'];
  const conditions = conditionsAfter('stats', judged(breach), sampleContext());
  const tuned = tune(conditions, { ...defaultRuleSettings, of });
  expect(tuned.map(({ forMs }) => forMs)).toEqual(conditions.map(() => hourMs));
  expect(tuned.map(({ facts }) => facts)).toEqual(conditions.map(({ facts }) => facts));
});

test('guard_action_failed: refused or given up fires, a due try is unknown, confirmed ends it', () => {
  const failed = (change: Parameters<typeof sampleAction>[0]) =>
    actionFailedCondition(sampleAction(change), sampleVerdict(breach), sampleContext());
  expect(failed({ state: 'refused', detail: 'the key may not write' })).toMatchObject({
    active: true,
    severity: 'critical',
  });
  expect(failed({ state: 'unconfirmed' }).active).toBe(true);
  expect(failed({ state: 'unconfirmed', nextTryAt: start + minuteMs }).active).toBe('unknown');
  expect(failed({ state: 'open' }).active).toBe('unknown');
  expect(failed({ state: 'confirmed' }).active).toBe(false);
  expect(failed({ state: 'refused', detail: 'the key may not write' }).facts.sentences.join(' ')).toMatch(
    /NO ACTION TAKEN: the API refused the switch to recovery mode at 10:02 UTC\. The key may not write\. .*yourself/,
  );
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

test('bounce_over_limit: only while nobody acts on the breach, and says why', () => {
  const mailbox = judged(breach);
  const off = sampleContext({ mayWrite: false, policy: { ...defaultPolicy, enforce: false } });
  expect(active('bounce_over_limit', 'stats', mailbox)).toBe(false);
  expect(active('bounce_over_limit', 'stats', mailbox, sampleContext({ mayWrite: false }))).toBe(true);
  expect(active('bounce_over_limit', 'stats', judged({ ...breach, action: 'none' }))).toBe(true);
  expect(active('bounce_over_limit', 'stats', judged({ ...breach, action: 'hold', reason: 'first_sight' }), off)).toBe(
    'unknown',
  );
  expect(active('bounce_over_limit', 'stats', judged({ ...breach, action: 'hold', reason: 'unknown_status' }))).toBe(
    true,
  );
  expect(active('bounce_over_limit', 'stats', judged({ action: 'hold', reason: 'stale_data' }), off)).toBe('unknown');
  expect(active('bounce_over_limit', 'stats', judged({}), off)).toBe(false);
  const [condition] = conditionsAfter('stats', mailbox, off).filter(
    ({ subject }) => subject.rule === 'bounce_over_limit',
  );
  expect(condition?.facts.sentences).toEqual([
    '4 bounces in 260 emails from 14 to 20 March: 1.54 %, over the balanced limit of 1 %.',
    'NO ACTION TAKEN: enforcement is off (guard.enforce).',
    'Based on counts read on 20 March 10:01 UTC.',
    'Set the mode to recovery in the mailbox app, or allow Warmwarden to act.',
  ]);
});

test('bounce_over_limit: while it fires, its words name the reason of now and the counts of now, and nothing is told again', () => {
  const hold = (reason: Verdict['reason']) => ({ ...breach, action: 'hold', reason }) as const;
  const scope = { kind: 'everything' } as const;
  const writesOff = { scope, since: start, until: null, by: 'ann', reason: 'maintenance' };
  const unjudged = { action: 'hold', wanted: 'hold' } as const;
  const steps: [Partial<Verdict>, Partial<MailboxContext>, string, string][] = [
    [breach, { writesOff, mayWrite: false }, 'To allow them: `warmwarden writes on`', 'allow Warmwarden to act'],
    [hold('circuit_breaker'), {}, 'circuit breaker is holding', '`warmwarden breaker release`'],
    [hold('contested'), {}, 'reversed', '`warmwarden contest release acme/bob@acme.example`'],
    [breach, { mayWrite: false }, 'the API key may not write', 'allow Warmwarden to act'],
    [hold('first_sight'), {}, 'had not seen this mailbox', 'Set the mode to recovery'],
    [breach, { mayWrite: false, policy: { ...defaultPolicy, enforce: false } }, 'guard.enforce', 'allow Warmwarden'],
    [{ ...unjudged, reason: 'stale_data' }, {}, 'statistics are too old', 'Check the mailbox'],
    [{ ...breach, action: 'none' }, {}, 'on_breach', 'allow Warmwarden to act'],
    [{ ...unjudged, reason: 'unknown_mode', mode: 'new' }, {}, 'The warm-up mode "new"', 'Check the mailbox'],
    [{ ...unjudged, reason: 'bad_payload' }, {}, 'cannot read the statistics', 'Check the mailbox'],
  ];
  const alerts = new Map<string, Alert>();
  const told: string[] = [];
  const look = (mailbox: MailboxState, context: MailboxContext) => {
    const conditions = conditionsAfter('stats', mailbox, context);
    const over = conditions.filter(({ subject }) => subject.rule === 'bounce_over_limit');
    const { changed, transitions } = step(over, (fingerprint) => alerts.get(fingerprint), context.now);
    for (const alert of changed) alerts.set(alert.fingerprint, alert);
    told.push(...transitions.map(({ kind }) => kind));
  };
  steps.forEach(([verdict, change, why, todo], index) => {
    const now = start + index * minuteMs;
    look(
      { ...judged(verdict), verdict: { at: now, answer: sampleVerdict(verdict) } },
      sampleContext({ ...change, now }),
    );
    const facts = [...alerts.values()][0]?.facts;
    expect(facts?.sentences.filter((text) => text.startsWith('NO ACTION TAKEN: '))).toEqual([
      expect.stringContaining(why),
    ]);
    expect(facts?.sentences.at(-1)).toContain(todo);
    const readAt = `10:${String(index + 1).padStart(2, '0')}`;
    expect(facts?.sentences).toContain(`Based on counts read on 20 March ${readAt} UTC.`);
    expect(facts?.numbers['reason']).toBe(sampleVerdict(verdict).reason);
  });
  expect(told).toEqual(['firing']);
});

test('bounce_over_limit: too few bounces stay what people were told of, whatever holds the mailbox', () => {
  const few = judged({ reason: 'insufficient_evidence', bounced: 1 });
  const of = (mailbox: MailboxState) =>
    conditionsAfter('stats', mailbox, sampleContext()).filter(({ subject }) => subject.rule === 'bounce_over_limit');
  const alert = step(of(few), () => undefined, start).changed[0];
  for (const reason of ['circuit_breaker', 'contested', 'first_sight', 'stale_data'] as const) {
    const wanted = reason === 'stale_data' ? 'hold' : 'recovery';
    expect(step(of(judged({ ...breach, action: 'hold', wanted, reason })), () => alert, start).changed).toEqual([]);
  }
});

test('guard_blind: while it fires, it names what the guard cannot judge by now', () => {
  const of = (reason: Verdict['reason']) =>
    conditionsAfter('stats', judged({ action: 'hold', reason }), sampleContext()).filter(
      ({ subject }) => subject.rule === 'guard_blind',
    );
  const [pending] = step(of('bad_payload'), () => undefined, start).changed;
  const { changed, transitions } = step(of('stale_data'), () => pending, start);
  expect(changed[0]?.facts.sentences[0]).toMatch(/^The newest statistics are too old/);
  expect([changed[0]?.status, transitions]).toEqual(['pending', []]);
});

test('an alert says when its counts were read, in the zone of the messages, however old they were when judged', () => {
  const hours = { dataAgeMs: 3 * 3_600_000 };
  const rules = { ...sampleContext().rules, timeZone: 'Europe/Berlin' };
  const off = sampleContext({ rules, mayWrite: false });
  const [condition] = conditionsAfter('stats', judged({ ...breach, ...hours }), off).filter(
    ({ subject }) => subject.rule === 'bounce_over_limit',
  );
  expect(condition?.facts.sentences).toContain('Based on counts read on 20 March 08:02 Europe/Berlin.');
  const acted = actedEvent(sampleAction({ verdict: { ...breach, ...hours } }), sampleMailbox(), {
    ...off,
    now: start + 86_400_000,
  });
  expect(acted?.alert.facts.sentences).toContain('Based on counts read on 20 March 08:02 Europe/Berlin.');
});

test('bounce_over_limit: with too few bounces to act it is info, in recovery mode a warning, until an action or the limit', () => {
  const few = { reason: 'insufficient_evidence', mode: 'slow', limitPpm: 5_000, sent: 85, bounced: 1 } as const;
  const conditionOf = (verdict: Parameters<typeof judged>[0]) =>
    conditionsAfter('stats', judged({ ...few, bouncesUntilBreach: 1, ...verdict }), sampleContext()).find(
      ({ subject }) => subject.rule === 'bounce_over_limit',
    );
  expect(conditionOf({})).toMatchObject({ active: true, severity: 'info' });
  expect(conditionOf({})?.facts).toMatchObject({
    title: 'bob@acme.example: bounces over the limit, too few to act on',
    sentences: [
      '1 bounce in 85 emails from 14 to 20 March: 1.18 %, over the slow limit of 0.5 %. That is too few bounces to act on: 1 more bounce would be a breach. With `profile: literal`, one bounce is enough.',
      'Based on counts read on 20 March 10:01 UTC.',
      'You get another message when Warmwarden acts or when this gets worse, and none when it ends by itself.',
    ],
  });
  expect(conditionOf({ mode: 'recovery', limitPpm: 3_000 })).toMatchObject({ active: true, severity: 'warning' });
  expect(conditionOf({ reason: 'ok', sent: 200 })?.active).toBe(false);
  expect(conditionOf(breach)?.active).toBe(false);
  expect(conditionOf({ reason: 'stale_data', action: 'hold' })?.active).toBe('unknown');
});

test('bounce_near_limit: from 80 % of the limit with two bounces, until below 70 %', () => {
  const near = (bounced: number, sent: number) => active('bounce_near_limit', 'stats', judged({ bounced, sent }));
  expect(near(4, 500)).toBe(true);
  expect(near(4, 501)).toBe('unknown');
  expect(near(7, 1_000)).toBe('unknown');
  expect(near(7, 1_001)).toBe(false);
  expect(near(1, 110)).toBe('unknown');
  expect(near(0, 0)).toBe(false);
});

test('guard_blind: after an hour, for its reasons only; stale or missing data says neither', () => {
  const blind = (reason: Parameters<typeof judged>[0]['reason'] & string) =>
    active('guard_blind', 'warmup', judged({ action: 'hold', reason }));
  for (const reason of [
    'unknown_mode',
    'bad_payload',
    'invalid_row',
    'implausible_counts',
    'unknown_status',
    'no_evidence',
    'word_against_counts',
  ] as const) {
    expect(blind(reason)).toBe(true);
  }
  expect([blind('stale_data'), blind('no_data'), blind('emergency')]).toEqual(['unknown', 'unknown', 'unknown']);
  expect([blind('ok'), blind('already_paused'), blind('circuit_breaker')]).toEqual([false, false, false]);
  expect(active('guard_blind', 'warmup', sampleMailbox())).toBe('unknown');
  expect(conditionsAfter('stats', judged({}), sampleContext())[0]?.forMs).toBe(hourMs);
});

test('guard_blind: late bounces right after the evidence restarted are no blindness', () => {
  const late = { action: 'hold', reason: 'implausible_counts', sent: 0, bounced: 1 } as const;
  expect(active('guard_blind', 'stats', judged({ ...late, windowDays: 1 }))).toBe('unknown');
  expect(active('guard_blind', 'stats', judged({ ...late, windowDays: 7 }))).toBe(true);
});

test('stale_data: from before the polls that were due in vain, never read at all, or standing still', () => {
  const at = (minutes: number) =>
    sampleContext({ now: start + minutes * minuteMs, staleBefore: start + (minutes - 45) * minuteMs });
  expect(active('stale_data', 'time', judged({}), at(45))).toBe('unknown');
  expect(active('stale_data', 'time', judged({}), at(46))).toBe(true);
  expect(active('stale_data', 'time', sampleMailbox({ stats: null }), at(10))).toBe('unknown');
  expect(active('stale_data', 'time', sampleMailbox({ stats: null }), at(46))).toBe(true);
  expect(active('stale_data', 'stats', judged({ action: 'hold', reason: 'stale_data' }))).toBe(true);
  const [early] = conditionsAfter('time', judged({}), at(50));
  const [late] = conditionsAfter('time', judged({}), at(55));
  expect(early?.facts.sentences).toEqual(late?.facts.sentences);
});

test('stale_data ends with a judgement of the answer: one that nothing judged says nothing, also before any poll was due in vain', () => {
  const later = sampleContext({ now: start + hourMs });
  const stats = { at: later.now, answer: { rows: [] } };
  expect(active('stale_data', 'stats', { ...judged({}), stats }, later)).toBe('unknown');
  expect(active('stale_data', 'warmup', judged({}), later)).toBe('unknown');
  const verdict = { at: later.now, answer: sampleVerdict() };
  expect(active('stale_data', 'stats', { ...judged({}), stats, verdict }, later)).toBe(false);
});

function withDns(spf: boolean | null, dkim: boolean | null): MailboxState {
  const record = (pass: boolean | null) => ({
    status: pass === null ? 'temperror' : pass ? 'pass' : 'fail',
    pass,
    record: null,
  });
  const records = { spf: record(spf), dkim: record(dkim), dmarc: record(true) };
  return sampleMailbox({ dns: { at: start, answer: { domain: 'Acme.example', checkedAt: null, records } } });
}

test('dns_failing is per domain and twice; inconclusive neither fires nor resolves', () => {
  const [condition] = conditionsAfter('dns', withDns(false, null), sampleContext());
  expect(condition).toMatchObject({ active: true, observations: 2, severity: 'critical' });
  expect(condition?.subject).toEqual({
    rule: 'dns_failing',
    account: 'acme',
    mailboxId: null,
    email: null,
    object: 'acme.example',
  });
  expect(condition?.facts.title).toBe('acme.example: SPF does not pass');
  expect(active('dns_failing', 'dns', withDns(true, null))).toBe('unknown');
  expect(active('dns_failing', 'dns', withDns(true, true))).toBe(false);
});

test('blacklisted is per ip, once; it ends after twice not listed, and nothing checked says nothing', () => {
  const with_ = (listed: boolean | null) => {
    const answer = {
      domain: 'acme.example',
      ip: '192.0.2.1',
      checkedAt: null,
      listed,
      lists: ['zen', 'sorbs'],
      found: 2,
      checked: 50,
    };
    return sampleMailbox({ blacklist: { at: start, answer } });
  };
  const [condition] = conditionsAfter('blacklist', with_(true), sampleContext());
  expect(condition).toMatchObject({
    active: true,
    observations: 1,
    clearObservations: 2,
    subject: { object: '192.0.2.1', mailboxId: null },
  });
  expect(condition?.facts.sentences[0]).toBe('192.0.2.1 is on 2 blacklists of 50 checked: zen and sorbs.');
  expect(active('blacklisted', 'blacklist', with_(null))).toBe('unknown');
  expect(active('blacklisted', 'blacklist', with_(false))).toBe(false);
});

test('mailbox_unwell: the list alone does not end what the detail says, and unclear says nothing', () => {
  const state = (connection: 'connected' | 'error' | 'unclear', status: string | null) => {
    const base = sampleMailbox();
    const answer = {
      status,
      healthScore: null,
      dailyLimit: null,
      connection,
      connectionError: connection === 'error' ? 'auth failed' : null,
    };
    return { ...base, entry: { at: start, answer: { ...base.entry.answer, status } }, detail: { at: start, answer } };
  };
  const rule = 'mailbox_unwell';
  expect(active(rule, 'mailbox', state('error', 'active'))).toBe(true);
  expect(active(rule, 'mailboxes', state('error', 'active'))).toBe('unknown');
  expect(active(rule, 'mailbox', state('unclear', 'active'))).toBe('unknown');
  expect(active(rule, 'mailbox', state('connected', 'active'))).toBe(false);
  expect(active(rule, 'mailboxes', state('connected', 'active'))).toBe(false);
  expect(active(rule, 'mailboxes', state('connected', 'disconnected'))).toBe(true);
  expect(active(rule, 'mailboxes', state('connected', null))).toBe('unknown');
  expect(conditionsAfter('mailbox', state('error', 'active'), sampleContext())[0]?.facts.sentences).toContain(
    'The error: Auth failed.',
  );
});

test('not_guarded counts from the first failure, for three minutes; before any answer nothing is known', () => {
  const account: AccountState = {
    name: 'acme',
    requestsPerMinute: 90,
    limitPerMinute: 100,
    lastSuccessAt: null,
    failingSince: null,
    lastFailure: null,
    keyRejected: false,
    rejections: 0,
    keyWrites: null,
    throttledLastHour: 0,
    watchedSince: start,
    listed: false,
    unlisted: [],
    health: 'unknown',
    apiHealth: { status: 'unknown', clockAheadMs: 0 },
    queueLength: 0,
    oldestDueAt: null,
    forecast: null,
  };
  expect(accountConditions(account, start, 'UTC')[0]?.active).toBe('unknown');
  expect(accountConditions({ ...account, failingSince: start - minuteMs }, start, 'UTC')[0]).toMatchObject({
    active: true,
    since: start - minuteMs,
    forMs: 3 * minuteMs,
    severity: 'critical',
  });
  expect(accountConditions({ ...account, lastSuccessAt: start }, start, 'UTC')[0]?.active).toBe(false);
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
